import type { Stream } from '../log/output-log.ts'
import type { SpawnPlan } from '../protocol/messages.ts'
import type { Input } from './input.ts'

/** Where the bytes of a program come from. */
export interface Output {
  /** False when no more can come. */
  readonly isOpen: boolean
  /** Reads no more until `flow`; a program that writes on then waits. */
  hold(): void
  flow(): void
  /** Reads, here and now, what was written before this call. */
  drain(): void
  /** The program itself has ended; what comes now comes from its descendants. */
  leaderGone(): void
  close(): void
}

/** A program that has just been started, before anything is known of it but its PID. */
export interface Forked {
  readonly osPid: number
  readonly output: Output
  readonly input: Input | null
  readonly resize: ((cols: number, rows: number) => void) | null
}

/** Never heard of before the call that forked has returned. */
export interface ForkedEvents {
  /** False: the log holds, read no more until it flows. The chunk is only good until this returns. */
  bytes(chunk: Buffer, stream: Stream | null): boolean
  /** Nobody can write any more. */
  outputEnded(): void
  /** All output that came before has been heard of, or is there to be drained. */
  exited(exitCode: number | null, signal: string | null): void
}

export interface ForkRequest {
  readonly pid: string
  /** The program's file, looked up. */
  readonly file: string
  readonly plan: SpawnPlan
  /** The plan's, with the marker. */
  readonly env: Readonly<Record<string, string>>
}

/** File and arguments as the system is given them: with a limit of open files, a shell sets it and is then replaced. */
export function commandOf({ file, plan }: ForkRequest): { file: string; argv0: string; args: string[] } {
  const [argv0 = file, ...args] = plan.argv
  const { openFiles } = plan.limits
  if (openFiles === null) return { file, argv0, args }
  const script = 'ulimit -n "$0" && exec "$@"'
  return { file: '/bin/sh', argv0: '/bin/sh', args: ['-c', script, String(openFiles), file, ...args] }
}
