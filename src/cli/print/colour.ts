import { styleText } from 'node:util'

const STYLES = ['bold', 'dim', 'red', 'green', 'yellow', 'blue', 'cyan'] as const

export type Paint = (text: string) => string
export type Colours = { readonly [style in (typeof STYLES)[number]]: Paint }

interface ColourStream {
  readonly isTTY?: boolean
  /** Of a terminal: how many bits of colour it has, by its environment. */
  getColorDepth?(env?: object): number
}

/** Colours for a stream. `asked` is the option `--color`; without one, the environment and the stream decide. */
export function coloursFor(
  stream: ColourStream,
  env: Readonly<Record<string, string | undefined>>,
  asked: string | undefined,
): Colours {
  return wantsColour(stream, env, asked) ? ANSI : PLAIN
}

function wantsColour(
  stream: ColourStream,
  env: Readonly<Record<string, string | undefined>>,
  asked: string | undefined,
): boolean {
  if (asked === 'always' || asked === 'never') return asked === 'always'
  if ((env['NO_COLOR'] ?? '') !== '') return false
  if (env['FORCE_COLOR'] !== undefined) return !['0', 'false'].includes(env['FORCE_COLOR'])
  // One bit is a terminal without colours, such as TERM=dumb.
  return stream.isTTY === true && (stream.getColorDepth?.(env) ?? 1) > 1
}

/** An empty text stays empty, without escape sequences. The decision about colours is made above, not by `styleText`. */
const ANSI = paints(
  (style) => (text) => (text === '' ? '' : styleText(style, text, { validateStream: false })),
)
const PLAIN = paints(() => (text) => text)

function paints(paint: (style: (typeof STYLES)[number]) => Paint): Colours {
  return Object.fromEntries(STYLES.map((style) => [style, paint(style)])) as Colours
}
