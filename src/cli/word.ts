import type { Context } from './context.ts'
import type { DaemonControl } from './daemon-words.ts'
import type { OptionSpecs, Options } from './options.ts'

/** A word of the command line: what it takes, how it is explained, and what it does. */
export interface Word<Specs extends OptionSpecs = OptionSpecs> {
  readonly name: string
  readonly summary: string
  /** Behind `reeve`: `logs [options] <process>`. */
  readonly usage: readonly string[]
  readonly options: Specs
  /** Options that the daemon's own code knows: what can be configured. */
  moreOptions?(daemon: DaemonControl): Promise<OptionSpecs>
  /** What each of its arguments is, for completion. */
  readonly completes?: 'process' | 'live process' | 'session' | 'command' | 'word' | readonly string[]
  /** Which option gives which field of a verb, for what the verb says of the field. */
  readonly fields?: Readonly<Record<string, keyof Specs & string>>
  readonly examples: readonly (readonly [line: string, meaning: string])[]
  /** What a person should know that the options do not say. */
  readonly about?: string
  /** The first argument ends the options: the rest is a command's own. */
  readonly stopEarly?: boolean
  /** Its own failures have this exit code, since the usual ones may be a command's. */
  readonly failure?: number
  /** Answers with the exit code. */
  run(context: Context<Options<Specs>>): Promise<number>
}

/** All words there are, for those that tell of the others. */
export interface Words {
  readonly groups: readonly (readonly [title: string, names: readonly string[]])[]
  readonly names: readonly string[]
  load(name: string): Promise<Word> | undefined
}

/** Keeps the options' types for `run`. */
export function word<const Specs extends OptionSpecs>(described: Word<Specs>): Word {
  return described as unknown as Word
}
