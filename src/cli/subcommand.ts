import type { Context } from './context.ts'
import type { DaemonControl } from './daemon-control.ts'
import type { OptionSpecs, Options } from './options.ts'

/** A subcommand of `reeve`: its options, its help and its code. */
export interface Subcommand<Specs extends OptionSpecs = OptionSpecs> {
  readonly name: string
  readonly summary: string
  /** The usage lines without `reeve`: `logs [options] <process>`. */
  readonly usage: readonly string[]
  readonly options: Specs
  /** Options that only the daemon's code knows: its settings. */
  moreOptions?(daemon: DaemonControl): Promise<OptionSpecs>
  /** The kind of its arguments, for completion. */
  readonly completes?: 'process' | 'live process' | 'session' | 'command' | 'subcommand' | readonly string[]
  /** The option that fills each field of a verb, so that a refusal of the field names the option. */
  readonly fields?: Readonly<Record<string, keyof Specs & string>>
  /**
   * The options of each action, if the first argument names one: `''` without an argument, `otherwise` with any other one. An option that the
   * action does not take is refused.
   */
  readonly takes?: Readonly<Record<string, readonly (keyof Specs & string)[]>>
  readonly examples: readonly (readonly [line: string, meaning: string])[]
  /** Help text after the options. */
  readonly about?: string
  /** The first argument ends the options: the rest belongs to the command that is run. */
  readonly stopEarly?: boolean
  /** The exit code of Reeve's own failures, where the usual codes may be the command's. */
  readonly failure?: number
  /** Resolves with the exit code. */
  run(context: Context<Options<Specs>>): Promise<number>
}

/** All subcommands, for those that describe the others. */
export interface Subcommands {
  readonly groups: readonly (readonly [title: string, names: readonly string[]])[]
  readonly names: readonly string[]
  readonly load: (name: string) => Promise<Subcommand> | undefined
}

/** Describes a subcommand. Inference keeps the option types for `run`; the table of subcommands needs only the general type. */
export function subcommand<const Specs extends OptionSpecs>(described: Subcommand<Specs>): Subcommand {
  const { fields, takes, run, ...rest } = described
  return {
    ...rest,
    ...(fields === undefined ? {} : { fields: { ...fields } }),
    ...(takes === undefined ? {} : { takes: { ...takes } }),
    // Sound because `cli` parses the options by the very specs of this subcommand.
    run: (context) => run.call(described, context as Context<Options<Specs>>),
  }
}
