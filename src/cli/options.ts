import { durationOf } from './duration.ts'
import { UsageError } from './usage-error.ts'

/** One option of a subcommand. `flag` takes no value; `texts` may be given more than once. */
export interface OptionSpec {
  readonly type: 'flag' | 'text' | 'texts' | 'number' | 'duration'
  readonly short?: string
  /** The name of the value in the help. */
  readonly value?: string
  readonly about: string
  /** The only allowed values, for completion and help. */
  readonly choices?: readonly string[]
}

export type OptionSpecs = Readonly<Record<string, OptionSpec>>

type ValueOf<Spec extends OptionSpec> = Spec['type'] extends 'flag'
  ? boolean
  : Spec['type'] extends 'number' | 'duration'
    ? number | undefined
    : Spec['type'] extends 'texts'
      ? readonly string[]
      : string | undefined

/** Durations are milliseconds. */
export type Options<Specs extends OptionSpecs> = { readonly [Name in keyof Specs]: ValueOf<Specs[Name]> }

export function valueIn(name: string, spec: OptionSpec, text: string): string | number {
  const flag = `--${name}`
  if (spec.choices !== undefined && !spec.choices.includes(text))
    throw new UsageError(`${flag} was given ${text}.`, `It takes one of: ${spec.choices.join(', ')}.`)
  if (spec.type === 'duration') return durationOf(text, flag)
  if (spec.type !== 'number') return text
  if (!/^\d+$/.test(text))
    throw new UsageError(`${flag} was given ${text}, and takes a number.`, `For example: ${flag} 20`)
  return Number(text)
}
