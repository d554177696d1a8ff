import { parseArgs } from 'node:util'
import { didYouMean } from '../base/nearest-name.ts'
import { type OptionSpec, type OptionSpecs, valueIn } from './options.ts'
import { UsageError } from './usage-error.ts'

export interface Parsed {
  readonly options: Readonly<Record<string, unknown>>
  readonly args: readonly string[]
  /** The values of options as they were typed. */
  readonly texts: ReadonlyMap<string, readonly string[]>
}

interface ParseOptions {
  /** The first argument ends the options, since what follows belongs to the command that is run. */
  readonly stopEarly?: boolean
  /** Where the remedy of a wrong option points. */
  readonly help: string
}

/**
 * Options may stand anywhere, long ones with a space or `=`, short ones in a bundle (`-fn 20`); `--` ends them. Node splits the
 * arguments into tokens; not by its strict mode, which knows neither our types nor near misses.
 */
export function parseArguments(
  given: readonly string[],
  specs: OptionSpecs,
  { stopEarly = false, help }: ParseOptions,
): Parsed {
  const values = new Map<string, unknown>()
  const texts = new Map<string, readonly string[]>()
  const args: string[] = []
  for (const token of tokensOf(given, specs)) {
    if (token.kind === 'option-terminator') continue
    if (token.kind === 'positional' && stopEarly)
      return { options: withDefaults(specs, values), args: given.slice(token.index), texts }
    if (token.kind === 'positional') {
      args.push(token.value)
      continue
    }
    const { name, rawName } = token
    const spec = Object.hasOwn(specs, name) ? specs[name] : undefined
    if (spec === undefined) throw unknownOption(rawName, specs, help)
    if (spec.type === 'flag') {
      if (token.value !== undefined) throw new UsageError(`--${name} takes no value.`, help)
      values.set(name, true)
      continue
    }
    if (token.value === undefined) throw new UsageError(`--${name} needs a value${hint(spec)}.`, help)
    // `-n=20` is `-n 20`, as the long form is.
    const isShort = !rawName.startsWith('--')
    const text = isShort && token.inlineValue ? token.value.replace(/^=/, '') : token.value
    const value = valueIn(name, spec, text)
    const isList = spec.type === 'texts'
    const before = texts.get(name)?.[0]
    if (!isList && before !== undefined && before !== text)
      throw new UsageError(`--${name} was given ${before} and ${text}.`, 'Give it once.')
    texts.set(name, isList ? [...(texts.get(name) ?? []), text] : [text])
    values.set(name, isList ? [...((values.get(name) as string[]) ?? []), value] : value)
  }
  return { options: withDefaults(specs, values), args, texts }
}

function tokensOf(given: readonly string[], specs: OptionSpecs) {
  const options = Object.entries(specs).map(([name, { type, short }]) => [
    name,
    { type: type === 'flag' ? 'boolean' : 'string', ...(short === undefined ? {} : { short }) } as const,
  ])
  const { tokens } = parseArgs({
    args: [...given],
    options: Object.fromEntries(options),
    strict: false,
    allowPositionals: true,
    tokens: true,
  })
  return tokens
}

function unknownOption(given: string, specs: OptionSpecs, help: string): UsageError {
  const known = given.startsWith('--') ? Object.keys(specs) : []
  const guess = didYouMean(given.slice(2), known, (name) => `--${name}`)
  return new UsageError(`There is no option ${given}.${guess}`, help)
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
