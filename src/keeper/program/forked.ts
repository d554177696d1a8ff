import type { SpawnPlan } from '../protocol/spawn-plan.ts'
import { limitArguments } from './caller-limits.ts'
import type { FailedStart } from './check-plan.ts'
import type { Input } from './input.ts'

export interface ForkRequest {
  readonly pid: string
  /** The program's file, looked up. */
  readonly file: string
  readonly plan: SpawnPlan
  /** The FIFOs of the pool to use, as far as they exist. */
  readonly fifos: readonly string[]
  /** The plan's, with the marker. */
  readonly env: Readonly<Record<string, string>>
}

/** A program that has just been started: only its PID is known. */
export interface Forked {
  readonly osPid: number
  readonly input: Input | null
  readonly resize: ((cols: number, rows: number) => void) | null
  /** Read right after the fork, while the PID can't belong to another process. */
  kill(): void
}

/** The system reports some errors only a moment later. */
export type ForkAnswer<Success> = Success | Promise<FailedStart>

/** Never called before the forking call has returned. All output before the exit can be drained then. */
export type ExitHeard = (exitCode: number | null, signal: string | null) => void

/**
 * File and arguments for exec: with a limit of open files, a shell sets the limit and then execs the program; prlimit does the
 * same with the limits of the caller.
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
