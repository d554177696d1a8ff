import type { KeptPlan, SettledState } from '../home/live-files.ts'
import type { ProgramLog } from '../log/program-log.ts'
import type { EndAnswer, EndedBecause, HeldBack, ProgramState, WriteAnswer } from '../protocol/messages.ts'
import type { Input } from './input.ts'
import type { Output } from './output.ts'
import type { ProgramTree } from './program-tree.ts'
import { TimeLimits } from './time-limits.ts'
import type { UsageLimits } from './usage-limits.ts'
import type { SampledProgram, UsageSamples } from './usage-samples.ts'

/** What the keeper hears of a program. */
export interface ProgramEvents {
  /** Once: how it ended. It is on record when this returns. */
  ended(state: SettledState): void
  /** After `ended`: no OS process is left that could write, and all is read and on disk. */
  closed(): void
  grew(end: number): void
  /** Its output is held back, or not any more. */
  held(heldBack: HeldBack | null): void
}

export interface ProgramParts {
  readonly pid: string
  readonly plan: KeptPlan
  readonly tree: ProgramTree
  readonly log: ProgramLog
  readonly output: Output
  readonly input: Input | null
  readonly resize: ((cols: number, rows: number) => void) | null
  readonly startedAt: number
  /** Taken over from a dead keeper. */
  readonly orphaned: boolean
  readonly paused: boolean
  readonly usageLimits: UsageLimits
  readonly usageSamples: UsageSamples
}

/**
 * One program, from its start until nothing more can come of it.
 *
 * | state   | its exit is seen                  | its output ends | end                    | asked to write, resize |
 * | running | drained → ending                  | –               | of the whole tree      | done                   |
 * | ending  | – (its last output is on disk → ended) | –          | of what is left of it  | `ended`                |
 * | ended   | –                                 | → closed        | of what is left of it  | `ended`                |
 * | closed  | –                                 | –               | of what is left of it  | `ended`                |
 *
 * Between *ended* and *closed* descendants hold its output open, and what they write is late.
 */
export class Program {
  readonly pid: string
  readonly #parts: ProgramParts
  readonly #events: ProgramEvents
  readonly #times: TimeLimits
  readonly #samples: SampledProgram
  #limits: KeptPlan['limits']
  #stopWatching: () => void
  readonly #recorded = Promise.withResolvers<void>()
  #isFollowed = false
  #state: 'running' | 'ending' | 'ended' | 'closed' = 'running'
  #because: EndedBecause | null = null
  #hasExceeded = false
  #isPaused: boolean
  #isLeaving = false
  /** Since when it is stopped because the disk can't take what it writes by itself. */
  #stoppedSince: number | null = null
  /** The last numbered writes and their bytes, in order. */
  readonly #writes = new Map<number, number>()
  #lastSeq = Number.NEGATIVE_INFINITY

  constructor(parts: ProgramParts, events: ProgramEvents) {
    const { plan, tree, usageLimits, usageSamples, startedAt } = parts
    this.pid = parts.pid
    this.#parts = parts
    this.#events = events
    this.#isPaused = parts.paused
    this.#times = new TimeLimits(plan, {
      ranMs: Date.now() - startedAt,
      isHeld: () => parts.log.isHolding || this.#isPaused || this.#stoppedSince !== null,
      exceeded: (because) => this.#exceeded(because),
    })
    this.#samples = usageSamples.of(() => tree.sample())
    this.#limits = plan.limits
    this.#stopWatching = usageLimits.watch(tree, plan.limits, (because) => this.#exceeded(because))
  }

  /** What it had may have been given away, or come back: from now on these count. */
  limit(limits: Pick<KeptPlan['limits'], 'cpuSeconds' | 'outputBytes'>): 'set' | 'ended' {
    if (this.#state !== 'running') return 'ended'
    const { usageLimits, tree } = this.#parts
    this.#limits = { ...this.#limits, ...limits }
    this.#stopWatching()
    this.#stopWatching = usageLimits.watch(tree, this.#limits, (because) => this.#exceeded(because))
    this.#checkOutput()
    return 'set'
  }

  /** True until its end is on record. */
  get isRunning(): boolean {
    return this.#state === 'running' || this.#state === 'ending'
  }

  get state(): Extract<ProgramState, { state: 'running' }> {
    const { pid, tree, orphaned } = this.#parts
    const { heldBack } = this
    return {
      ...{ state: 'running', pid, program: tree.identity, orphaned, paused: this.#isPaused },
      ...(this.#isLeaving ? { leaving: true } : {}),
      ...(heldBack === null ? {} : { heldBack }),
    }
  }

  /** Of one that is taken over: its end is certain, and takes a moment to be on record. */
  leave(): void {
    this.#isLeaving = true
  }

  /** Of one that writes its log by itself nothing is in between: it is stopped. */
  get heldBack(): HeldBack | null {
    return this.#stoppedSince === null ? this.#parts.log.heldBack : { since: this.#stoppedSince, bytes: 0 }
  }

  heldBackChanged(): void {
    this.#events.held(this.heldBack)
  }

  get tree(): ProgramTree {
    return this.#parts.tree
  }

  get outputEnd(): number {
    return this.#parts.log.end
  }

  /** Its log is longer than before. */
  grew(): void {
    const { end } = this.#parts.log
    this.#times.output()
    this.#samples.soon()
    if (this.#isFollowed) this.#events.grew(end)
    this.#checkOutput()
  }

  /** Whether somebody wants to hear that its log grows. */
  get isFollowed(): boolean {
    return this.#isFollowed
  }

  follow(on: boolean): void {
    this.#isFollowed = on
    if (on) this.#parts.output.wake()
  }

  /** Its log takes bytes again. */
  flows(): void {
    this.#times.goOn()
    this.#parts.output.flow()
  }

  outputEnded(): void {
    if (this.#state === 'ended') this.#close()
  }

  /** Its exit was seen, and that is what counts: whatever is asked for afterwards came too late. */
  exited(exitCode: number | null, signal: string | null): void {
    const { pid, tree, log } = this.#parts
    const at = Date.now()
    const stopped = orNull(() => tree.wasOutOfMemory()) === true ? 'limit:memory' : this.#because
    const leftBehind = orNull(() => tree.count())
    this.#drainLast(leftBehind === 0)
    // It may have printed too much and been gone before that was seen: it is no less too much.
    const because = stopped ?? (this.#hasPrintedTooMuch ? 'limit:output' : null)
    const usage = orNull(() => tree.lastUsage())
    const exit = { exitCode, signal, at, because, outputEnd: log.end, usage, leftBehind }
    this.#settleWhenWritten({ state: 'exited', pid, program: tree.identity, exit })
  }

  /** An orphan is gone. Nobody saw how. */
  async vanished(): Promise<void> {
    const { pid, tree, log, plan } = this.#parts
    if (this.#state !== 'running') return
    this.#drainLast(false)
    try {
      await tree.end({ signal: plan.endSignal, graceMs: plan.graceMs || FOR_CERTAIN_MS })
    } finally {
      this.#parts.output.drain()
      this.#settleWhenWritten({
        ...{ state: 'lost', pid, program: tree.identity },
        ...{ evidence: 'keeper_lost', outputEnd: log.end },
      })
    }
  }

  /** The answer comes after the end of the program, if that is what it says, is on record. */
  async end(signal: string, graceMs: number, because: EndedBecause): Promise<EndAnswer> {
    const onSignalled = () => {
      if (this.#state === 'running') this.#because ??= because
    }
    if (this.#state === 'running') this.#samples.now()
    const answer = await this.#parts.tree.end({ signal, graceMs, onSignalled })
    if (answer.how === 'survived' || answer.how === 'not_ours') return answer
    if (this.#parts.orphaned) await this.vanished()
    await this.#recorded.promise
    return answer
  }

  pause(): number {
    this.#isPaused = this.#state === 'running'
    return this.#parts.tree.stop()
  }

  resume(): number {
    this.#isPaused = false
    this.#times.goOn()
    return this.#parts.tree.goOn()
  }

  /** The disk can't take what it writes by itself. Who was paused stays so when there is room again. */
  held(isHeld: boolean): void {
    this.#stoppedSince = isHeld ? Date.now() : null
    this.heldBackChanged()
    this.#times.goOn()
    if (isHeld) this.#parts.tree.stop()
    else if (!this.#isPaused) this.#parts.tree.goOn()
  }

  write(seq: number | null, bytes: Buffer): WriteAnswer {
    if (seq !== null && seq <= this.#lastSeq) return { type: 'replayed', bytes: this.#writes.get(seq) ?? 0 }
    if (this.#state !== 'running') return { type: 'ended' }
    const { input } = this.#parts
    if (input === null) return { type: 'no_stdin' }
    const answer = input.write(bytes)
    this.#parts.output.wake()
    if (seq !== null && answer.type === 'written') this.#remember(seq, answer.bytes)
    return answer
  }

  closeInput(): 'closed' | 'no_stdin' | 'ended' {
    if (this.#state !== 'running') return 'ended'
    if (this.#parts.input === null) return 'no_stdin'
    this.#parts.input.end()
    return 'closed'
  }

  resize(cols: number, rows: number): 'resized' | 'no_pty' | 'ended' {
    if (this.#state !== 'running') return 'ended'
    const { resize, log } = this.#parts
    if (resize === null) return 'no_pty'
    resize(cols, rows)
    log.size(cols, rows)
    return 'resized'
  }

  #remember(seq: number, bytes: number): void {
    this.#lastSeq = seq
    this.#writes.set(seq, bytes)
    for (const old of this.#writes.keys()) {
      if (this.#writes.size <= MAX_WRITES) return
      this.#writes.delete(old)
    }
  }

  #checkOutput(): void {
    if (this.#hasPrintedTooMuch) this.#exceeded('limit:output')
  }

  get #hasPrintedTooMuch(): boolean {
    const { outputBytes } = this.#limits
    return outputBytes !== null && this.#parts.log.end > outputBytes
  }

  #exceeded(because: EndedBecause): void {
    if (this.#state !== 'running' || this.#hasExceeded) return
    this.#hasExceeded = true
    const { endSignal, graceMs } = this.#parts.plan
    void this.end(endSignal, graceMs, because)
  }

  #drainLast(nobodyLeft: boolean): void {
    const { input, output, tree } = this.#parts
    this.#state = 'ending'
    this.#isPaused = false
    this.#times.stop()
    this.#samples.stop()
    this.#stopWatching()
    input?.close()
    output.drain()
    output.leaderGone(nobodyLeft)
    tree.leaderGone()
  }

  #settleWhenWritten(state: SettledState): void {
    const { log } = this.#parts
    if (log.isWritten) this.#settle(state)
    else void log.flushed(WAIT_FOR_DISK_MS).then(() => this.#settle(state))
  }

  #settle(state: SettledState): void {
    this.#state = 'ended'
    this.#events.ended(state)
    this.#recorded.resolve()
    if (!this.#parts.output.isOpen) this.#close()
  }

  #close(): void {
    this.#state = 'closed'
    this.#parts.output.close()
    this.#parts.log.close()
    this.#parts.tree.forget()
    // A keeper stays while it has output that the disk did not take yet: it has the only copy.
    if (this.#parts.log.isWritten) this.#events.closed()
    else void this.#parts.log.flushed().then(() => this.#events.closed())
  }
}

/** How many writes are known by their number; the protocol says so. */
const MAX_WRITES = 64

/** How long the end of a program waits for a disk that takes none of its last output. */
const WAIT_FOR_DISK_MS = 5000

/** The grace of what was never to be forced, when nobody is left to wait for it. */
const FOR_CERTAIN_MS = 2000

/** What can't be read is not known, which is no reason not to know the rest. */
function orNull<Value>(read: () => Value): Value | null {
  try {
    return read()
  } catch {
    return null
  }
}
