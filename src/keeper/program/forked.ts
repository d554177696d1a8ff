import type { SpawnPlan } from '../protocol/messages.ts'
import { limitArguments } from './caller-limits.ts'
import type { FailedStart } from './check-plan.ts'
import type { Input } from './input.ts'

export interface ForkRequest {
  readonly pid: string
  /** The program's file, looked up. */
  readonly file: string
  readonly plan: SpawnPlan
  /** Those of the pool that are to be taken, for as far as they are there. */
  readonly fifos: readonly string[]
  /** The plan's, with the marker. */
  readonly env: Readonly<Record<string, string>>
}

/** A program that has just been started: all that is known of it is its PID. */
export interface Forked {
  readonly osPid: number
  readonly input: Input | null
  readonly resize: ((cols: number, rows: number) => void) | null
  /** Right after the fork, while its PID can't be anybody else's. */
  kill(): void
}

/** The system says some errors only a moment later. */
export type ForkAnswer<Success> = Success | Promise<FailedStart>

/** Not heard before the call that forked has returned. What was written before is there to be drained. */
export type ExitHeard = (exitCode: number | null, signal: string | null) => void

/**
 * File and arguments as the system is given them: with a limit of open files, a shell sets it and is then replaced; and so does
 * prlimit with the limits of the caller.
 */
export function commandOf({ file, plan }: ForkRequest): { file: string; argv0: string; args: string[] } {
  const [argv0 = file, ...args] = plan.argv
  const { openFiles } = plan.limits
  const script = 'ulimit -n "$0" && exec "$@"'
  const shell = openFiles === null ? [] : ['/bin/sh', '-c', script, String(openFiles)]
  const [first, ...others] = [...limitArguments(plan), ...shell]
  if (first === undefined) return { file, argv0, args }
  return { file: first, argv0: first, args: [...others, file, ...args] }
}
