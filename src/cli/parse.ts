import { didYouMean } from './nearest.ts'
import { type OptionSpec, type OptionSpecs, valueIn } from './options.ts'
import { UsageError } from './usage-error.ts'

export interface Parsed {
  readonly options: Readonly<Record<string, unknown>>
  readonly args: readonly string[]
  /** The values of options as they were typed. */
  readonly texts: ReadonlyMap<string, readonly string[]>
}

/**
 * Options may stand anywhere, long ones with a space or `=`, short ones in a bundle (`-fn 20`); `--` ends them. With
 * `stopEarly` the first argument that is no option ends them too, since what follows belongs to the command.
 */
export function parseArguments(
  given: readonly string[],
  specs: OptionSpecs,
  { stopEarly = false, help }: { readonly stopEarly?: boolean; readonly help: string },
): Parsed {
  const values = new Map<string, unknown>()
  const texts = new Map<string, readonly string[]>()
  const args: string[] = []
  const left = [...given]
  const set = (name: string, spec: OptionSpec, attached: string | undefined) => {
    if (spec.type === 'flag') {
      if (attached !== undefined) throw new UsageError(`--${name} takes no value.`, help)
      values.set(name, true)
      return
    }
    const text = attached ?? left.shift()
    if (text === undefined) throw new UsageError(`--${name} needs a value${hint(spec)}.`, help)
    const value = valueIn(name, spec, text)
    texts.set(name, spec.type === 'texts' ? [...(texts.get(name) ?? []), text] : [text])
    if (spec.type === 'texts') values.set(name, [...((values.get(name) as string[]) ?? []), value])
    else values.set(name, value)
  }
  while (left.length > 0) {
    const word = left.shift() ?? ''
    if (word === '--') {
      args.push(...left)
      break
    }
    if (word.startsWith('--')) {
      const [name = '', attached] = splitOnce(word.slice(2))
      const spec = Object.hasOwn(specs, name) ? specs[name] : undefined
      if (spec === undefined)
        throw unknownOption(
          `--${name}`,
          Object.keys(specs).map((known) => `--${known}`),
          help,
        )
      set(name, spec, attached)
    } else if (word.startsWith('-') && word !== '-') {
      takeBundle(word, specs, help, set)
    } else {
      args.push(word)
      if (!stopEarly) continue
      args.push(...left)
      break
    }
  }
  return { options: withDefaults(specs, values), args, texts }
}

/** `-fn20` is `-f -n 20`. */
function takeBundle(
  word: string,
  specs: OptionSpecs,
  help: string,
  set: (name: string, spec: OptionSpec, attached: string | undefined) => void,
): void {
  for (let at = 1; at < word.length; at++) {
    const letter = word[at] ?? ''
    const found = Object.entries(specs).find(([, { short }]) => short === letter)
    if (found === undefined) throw unknownOption(`-${letter}`, [], help)
    const [name, spec] = found
    const rest = word.slice(at + 1).replace(/^=/, '')
    if (spec.type === 'flag') {
      set(name, spec, undefined)
      continue
    }
    set(name, spec, rest === '' ? undefined : rest)
    return
  }
}

function unknownOption(given: string, known: readonly string[], help: string): UsageError {
  return new UsageError(`There is no option ${given}.${didYouMean(given, known)}`, help)
}

function splitOnce(text: string): [string, string | undefined] {
  const at = text.indexOf('=')
  return at === -1 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)]
}

function hint({ value, choices }: OptionSpec): string {
  if (choices !== undefined) return `, one of ${choices.join(', ')}`
  return value === undefined ? '' : `, <${value}>`
}

function withDefaults(specs: OptionSpecs, values: ReadonlyMap<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(specs).map(([name, { type }]) => {
      const missing = type === 'flag' ? false : type === 'texts' ? [] : undefined
      return [name, values.has(name) ? values.get(name) : missing]
    }),
  )
}
