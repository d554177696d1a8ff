import type { EndAnswer } from '../protocol/messages.ts'
import type { EndedBecause, HeldBack, ProgramState } from '../protocol/program-state.ts'
import type { Input } from './input.ts'
import type { SettledState, StoredSpawnPlan } from './live-files.ts'
import type { Output } from './output.ts'
import { ProgramInput } from './program-input.ts'
import { ProgramLimits } from './program-limits.ts'
import type { ProgramLog } from './program-log.ts'
import type { ProgramTree } from './program-tree.ts'
import { TimeLimits } from './time-limits.ts'
import type { UsageLimits } from './usage-limits.ts'
import type { SampledProgram, UsageSamples } from './usage-samples.ts'

/** The events of a program that its keeper handles. */
export interface ProgramEvents {
  /** Called once, with how the program ended. The end is on record when this returns. */
  ended(state: SettledState): void
  /** After `ended`: no OS process is left that could write, and all output is read and on disk. */
  closed(): void
  grew(end: number): void
  /** The output is held back, or no longer (null). */
  heldBackChanged(heldBack: HeldBack | null): void
}

export interface ProgramParts {
  readonly pid: string
  readonly plan: StoredSpawnPlan
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
 * One program, from its start until no process of it can write any more.
 *
 * | state   | its exit is seen                  | its output ends | end                    | asked to write, resize |
 * | running | drained → ending                  | –               | of the whole tree      | done                   |
 * | ending  | – (its last output is on disk → ended) | –          | of remaining members   | `ended`                |
 * | ended   | –                                 | → closed        | of remaining members   | `ended`                |
 * | closed  | –                                 | –               | of remaining members   | `ended`                |
 *
 * Between *ended* and *closed* descendants hold its output open, and their output counts as late.
 */
export class Program {
  readonly pid: string
  readonly input: ProgramInput
  readonly #parts: ProgramParts
  readonly #events: ProgramEvents
  readonly #times: TimeLimits
  readonly #samples: SampledProgram
  readonly #limits: ProgramLimits
  readonly #recorded = Promise.withResolvers<void>()
  #isFollowed = false
  #state: 'running' | 'ending' | 'ended' | 'closed' = 'running'
  #because: EndedBecause | null = null
  #hasExceeded = false
  #isPaused: boolean
  #isLeaving = false
  /** Since when a program that writes its log itself is stopped, because the disk is full. */
  #stoppedSince: number | null = null

  constructor(parts: ProgramParts, events: ProgramEvents) {
    const { plan, tree, usageLimits, usageSamples, startedAt } = parts
    this.pid = parts.pid
    this.#parts = parts
    this.#events = events
    this.#isPaused = parts.paused
    this.input = new ProgramInput({ ...parts, isRunning: () => this.#state === 'running' })
    this.#times = new TimeLimits(plan, {
      ranMs: Date.now() - startedAt,
      isSuspended: () => parts.log.isHoldingBack || this.#isPaused || this.#stoppedSince !== null,
      exceeded: (because) => this.#exceeded(because),
    })
    this.#samples = usageSamples.of(() => tree.sample())
    this.#limits = new ProgramLimits(plan.limits, {
      tree,
      log: parts.log,
      usageLimits,
      exceeded: (because) => this.#exceeded(because),
    })
  }

  /** Changes the limits: a part of them may have been given to a child, or come back from one. */
  limit(limits: Pick<StoredSpawnPlan['limits'], 'cpuSeconds' | 'outputBytes'>): 'set' | 'ended' {
    if (this.#state !== 'running') return 'ended'
    this.#limits.change(limits)
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
      state: 'running',
      pid,
      program: tree.identity,
      orphaned,
      paused: this.#isPaused,
      ...(this.#isLeaving ? { leaving: true } : {}),
      ...(heldBack === null ? {} : { heldBack }),
    }
  }

  /** The end of a program that is taken over is certain, and takes a moment to be on record. */
  leave(): void {
    this.#isLeaving = true
  }

  /** The keeper holds no bytes of a program that writes its log itself: such a program is stopped instead. */
  get heldBack(): HeldBack | null {
    return this.#stoppedSince === null ? this.#parts.log.heldBack : { since: this.#stoppedSince, bytes: 0 }
  }

  heldBackChanged(): void {
    this.#events.heldBackChanged(this.heldBack)
  }

  get tree(): ProgramTree {
    return this.#parts.tree
  }

  get outputEnd(): number {
    return this.#parts.log.end
  }

  /** The log has grown. */
  grew(): void {
    const { end } = this.#parts.log
    this.#times.output()
    this.#samples.soon()
    if (this.#isFollowed) this.#events.grew(end)
    this.#limits.checkOutput()
  }

  /** Whether a daemon wants to know that the log grows. */
  get isFollowed(): boolean {
    return this.#isFollowed
  }

  follow(on: boolean): void {
    this.#isFollowed = on
    if (on) this.#parts.output.wake()
  }

  /** The log takes bytes again. */
  flows(): void {
    this.#times.goOn()
    this.#parts.output.flow()
  }

  outputEnded(): void {
    if (this.#state === 'ended') this.#close()
  }

  /** The exit was seen: requests that come afterwards are too late. */
  exited(exitCode: number | null, signal: string | null): void {
    const { pid, tree, log } = this.#parts
    const at = Date.now()
    const stopped = orNull(() => tree.wasOutOfMemory()) === true ? 'limit:memory' : this.#because
    const leftBehind = orNull(() => tree.count())
    this.#drainLast(leftBehind === 0)
    // A program that ends before its excess output is noticed has still exceeded the limit.
    const because = stopped ?? (this.#limits.hasPrintedTooMuch ? 'limit:output' : null)
    const usage = orNull(() => tree.lastUsage())
    const exit = { exitCode, signal, at, because, outputEnd: log.end, usage, leftBehind }
    this.#settleWhenWritten({ state: 'exited', pid, program: tree.identity, exit })
  }

  /** A program of a dead keeper is gone; its exit was not seen. */
  async vanished(): Promise<void> {
    const { pid, tree, log, plan } = this.#parts
    if (this.#state !== 'running') return
    this.#drainLast(false)
    try {
      await tree.end({ signal: plan.endSignal, graceMs: plan.graceMs || FOR_CERTAIN_MS })
    } finally {
      this.#parts.output.drain()
      this.#settleWhenWritten({
        state: 'lost',
        pid,
        program: tree.identity,
        evidence: 'keeper_lost',
        outputEnd: log.end,
      })
    }
  }

  /** An answer that says the program has ended comes after that end is on record. */
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

  /** The disk is too full for a program that writes its own log. A paused program stays paused when there is room again. */
  diskFull(isFull: boolean): void {
    this.#stoppedSince = isFull ? Date.now() : null
    this.heldBackChanged()
    this.#times.goOn()
    if (isFull) this.#parts.tree.stop()
    else if (!this.#isPaused) this.#parts.tree.goOn()
  }

  #exceeded(because: EndedBecause): void {
    if (this.#state !== 'running' || this.#hasExceeded) return
    this.#hasExceeded = true
    const { endSignal, graceMs } = this.#parts.plan
    void this.end(endSignal, graceMs, because)
  }

  #drainLast(isTreeEmpty: boolean): void {
    const { input, output, tree } = this.#parts
    this.#state = 'ending'
    this.#isPaused = false
    this.#times.stop()
    this.#samples.stop()
    this.#limits.stop()
    input?.close()
    output.drain()
    output.leaderGone(isTreeEmpty)
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
    // A keeper stays while it holds output that the disk did not take yet: that is the only copy.
    if (this.#parts.log.isWritten) this.#events.closed()
    else void this.#parts.log.flushed().then(() => this.#events.closed())
  }
}

/** How long the end of a program waits for a full disk to accept the last output. */
const WAIT_FOR_DISK_MS = 5000

/** The grace of a program that was never to be forced, once its leader is gone and only descendants are left. */
const FOR_CERTAIN_MS = 2000

/** A value that can't be read does not keep the others from being reported. */
function orNull<Value>(read: () => Value): Value | null {
  try {
    return read()
  } catch {
    return null
  }
}
