import type { KeptPlan, SettledState } from '../home/live-files.ts'
import type { OutputLog, Stream } from '../log/output-log.ts'
import type {
  EndAnswer,
  EndedBecause,
  ProgramIdentity,
  ProgramState,
  Usage,
  WriteAnswer,
} from '../protocol/messages.ts'
import { signalExact, signalGroup, whoIs } from '../tree/identity.ts'
import { membersOf } from '../tree/members.ts'
import type { Forked } from './forked.ts'
import { TreeEnd } from './simple-end.ts'
import { TimeLimits } from './time-limits.ts'

/** What the keeper hears of a program. */
export interface ProgramEvents {
  /** Once: how it ended. It is on record when this returns. */
  ended(state: SettledState): void
  /** After `ended`: nobody is left who could write, and all is read and written. */
  closed(): void
  grew(end: number): void
}

export interface ProgramParts {
  readonly pid: string
  readonly marker: string
  readonly plan: KeptPlan
  readonly identity: ProgramIdentity
  readonly forked: Pick<Forked, 'output' | 'input' | 'resize'>
  readonly log: OutputLog
  readonly startedAt: number
}

/**
 * One program, from its start until nothing more can come of it.
 *
 * | state   | its exit is seen      | its output ends | end                        |
 * | running | drained; → ended      | –               | the tree is ended          |
 * | ended   | –                     | → closed        | what is left of the tree is |
 * | closed  | –                     | –               | `already_gone`, or the same |
 *
 * Between *ended* and *closed* descendants hold its output open, and what they write is late.
 */
export class Program {
  readonly pid: string
  readonly #parts: ProgramParts
  readonly #events: ProgramEvents
  readonly #times: TimeLimits
  readonly #recorded = Promise.withResolvers<void>()
  #state: 'running' | 'ending' | 'ended' | 'closed' = 'running'
  #because: EndedBecause | null = null
  #end: TreeEnd | null = null
  #isPaused = false
  #lastWrite: { readonly seq: number; readonly bytes: number } | null = null
  isFollowed = false

  constructor(parts: ProgramParts, events: ProgramEvents) {
    this.pid = parts.pid
    this.#parts = parts
    this.#events = events
    this.#times = new TimeLimits(parts.plan, Date.now() - parts.startedAt, (because) =>
      this.#exceeded(because),
    )
    if (parts.plan.pty !== null) parts.log.size(parts.plan.pty.cols, parts.plan.pty.rows)
  }

  get state(): Extract<ProgramState, { state: 'running' }> {
    const { pid, identity: program } = this.#parts
    return { state: 'running', pid, program, orphaned: false, paused: this.#isPaused }
  }

  get isRunning(): boolean {
    return this.#state === 'running' || this.#state === 'ending'
  }

  get outputEnd(): number {
    return this.#parts.log.end
  }

  bytes(chunk: Buffer, stream: Stream | null): boolean {
    const { log, plan } = this.#parts
    const flows = log.append(chunk, stream)
    this.#times.output()
    if (this.isFollowed) this.#events.grew(log.end)
    const most = plan.limits.outputBytes
    if (most !== null && log.end > most && this.#state === 'running') this.#exceeded('limit:output')
    return flows
  }

  /** The log takes bytes again. */
  flows(): void {
    this.#parts.forked.output.flow()
  }

  outputEnded(): void {
    if (this.#state === 'ended') this.#close()
  }

  exited(exitCode: number | null, signal: string | null): void {
    const { forked, log } = this.#parts
    const at = Date.now()
    const because = this.#because
    this.#state = 'ending'
    this.#times.stop()
    forked.input?.close()
    forked.output.drain()
    forked.output.leaderGone()
    const outputEnd = log.end
    this.#end?.nudge()
    const settle = () => {
      const { pid, identity: program } = this.#parts
      const exit = { exitCode, signal, at, outputEnd, because, usage: null, leftBehind: null }
      this.#settle({ state: 'exited', pid, program, exit })
    }
    if (log.isWritten) settle()
    else void log.flushed(WAIT_FOR_DISK_MS).then(settle)
  }

  async end(signal: string, graceMs: number, because: EndedBecause): Promise<EndAnswer> {
    if (this.#end === null) {
      const { identity: program, marker } = this.#parts
      const onSignalled = () => {
        if (this.#state === 'running') this.#because ??= because
      }
      this.#end = new TreeEnd({ program, marker }, { signal, graceMs, onSignalled })
    } else this.#end.strengthen(signal, graceMs)
    const answer = await this.#end.done
    this.#end = null
    if (answer.how !== 'survived' && answer.how !== 'not_ours') await this.#recorded.promise
    return answer
  }

  signal(signal: string, to: 'process' | 'group'): 'sent' | 'ended' | 'not_ours' {
    const { identity: program, marker } = this.#parts
    if (to === 'group') return signalGroup(program, signal, marker)
    const who = whoIs(program)
    if (who === 'gone') return 'ended'
    if (who !== 'ours' || program.startTime === null) return 'not_ours'
    return signalExact(program.osPid, program.startTime, signal) ? 'sent' : 'ended'
  }

  /** Parents before children, so that none of them sees a child stop and acts upon it. */
  pause(): number {
    const members = membersOf(this.#parts.identity, this.#parts.marker).reverse()
    this.#isPaused = this.#state === 'running'
    return members.filter(({ osPid, startTime }) => signalExact(osPid, startTime, 'SIGSTOP')).length
  }

  resume(): number {
    const members = membersOf(this.#parts.identity, this.#parts.marker)
    this.#isPaused = false
    return members.filter(({ osPid, startTime }) => signalExact(osPid, startTime, 'SIGCONT')).length
  }

  write(seq: number | null, bytes: Buffer): WriteAnswer {
    if (seq !== null && this.#lastWrite !== null && seq <= this.#lastWrite.seq)
      return { type: 'replayed', bytes: this.#lastWrite.bytes }
    if (this.#state !== 'running') return { type: 'ended' }
    const { input } = this.#parts.forked
    if (input === null) return { type: 'no_stdin' }
    const answer = input.write(bytes)
    if (seq !== null && answer.type === 'written') this.#lastWrite = { seq, bytes: answer.bytes }
    return answer
  }

  closeInput(): 'closed' | 'no_stdin' | 'ended' {
    if (this.#state !== 'running') return 'ended'
    if (this.#parts.forked.input === null) return 'no_stdin'
    this.#parts.forked.input.end()
    return 'closed'
  }

  resize(cols: number, rows: number): 'resized' | 'no_pty' | 'ended' {
    if (this.#state !== 'running') return 'ended'
    const { forked, log } = this.#parts
    if (forked.resize === null) return 'no_pty'
    forked.resize(cols, rows)
    log.size(cols, rows)
    return 'resized'
  }

  usage(): Usage | null {
    return null
  }

  #exceeded(because: EndedBecause): void {
    const { endSignal, graceMs } = this.#parts.plan
    void this.end(endSignal, graceMs, because)
  }

  #settle(state: SettledState): void {
    this.#state = 'ended'
    this.#events.ended(state)
    this.#recorded.resolve()
    if (!this.#parts.forked.output.isOpen) this.#close()
  }

  #close(): void {
    this.#state = 'closed'
    this.#parts.forked.output.close()
    this.#parts.log.close()
    this.#events.closed()
  }
}

/** How long the end of a program waits for a disk that takes none of its last output. */
const WAIT_FOR_DISK_MS = 5000
