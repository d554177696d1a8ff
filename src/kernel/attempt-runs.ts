import { ReeveError } from '../core/errors.ts'
import type { Fence } from '../core/lease/lease.ts'
import type { Ending, Intent } from '../core/process/intent.ts'
import { hasEnded } from '../core/process/record.ts'
import type { Attempt } from './attempt.ts'
import type { Edges } from './edges.ts'
import type { Executor, Left, Lost, Parked } from './executor.ts'
import {
  endingOfThrown,
  type FinalAnswer,
  type FinalWrite,
  FinalWrites,
  type FinalWriteTarget,
  isRefused,
  isSuperseded,
} from './final-writes.ts'
import type { Kernel } from './kernel.ts'
import { type Performed, perform } from './perform.ts'
import { performAs } from './perform-as.ts'
import type { RunningAttempts } from './running-attempts.ts'
import type { ServedProcesses } from './served-processes.ts'

const RETRY_MS = 200
const MAX_RETRY_MS = 5_000

export interface AttemptRunsOptions {
  readonly served: ServedProcesses
  readonly running: RunningAttempts
  readonly holder: () => string
  readonly isClosed: () => boolean
  /** Looks for work. */
  readonly look: () => void
}

/** Runs attempts with their executors, and finishes them: each is ended, released or parked. */
export class AttemptRuns {
  readonly #edges: Edges
  readonly #kernel: Kernel
  readonly #options: AttemptRunsOptions
  readonly #target: StoreFinalWrites
  readonly #writes: FinalWrites

  constructor(edges: Edges, kernel: Kernel, options: AttemptRunsOptions) {
    this.#edges = edges
    this.#kernel = kernel
    this.#options = options
    this.#target = new StoreFinalWrites(edges, options.holder, options.isClosed)
    this.#writes = new FinalWrites(this.#target)
  }

  async run(executor: Executor, attempt: Attempt): Promise<void> {
    const ending = await this.#endingOf(executor, attempt)
    if (ending?.status === 'parked') this.#parked(attempt)
    else if (ending?.status === 'left') await this.#release(attempt)
    else if (ending !== undefined)
      this.#finish(attempt, await this.#writes.end(attempt, ending, `end:${attempt.fenceNumber}`))
  }

  /** An event that queued the process again may have been heard while its attempt was still here, and was left to it. */
  #parked(attempt: Attempt): void {
    this.#options.running.forget(attempt)
    this.#options.look()
  }

  /** Writes the end of a killed attempt at once, without waiting for its code. */
  async endKilled(attempt: Attempt): Promise<void> {
    const replayKey = `kill:${attempt.fenceNumber}`
    this.#finish(attempt, await this.#writes.end(attempt, { status: 'cancelled' }, replayKey))
  }

  /** Writes that an attempt was not seen to stop within its grace. */
  async giveUpStop(attempt: Attempt): Promise<'done' | 'not_yet'> {
    const answer = await this.#writes.giveUpStop(attempt)
    if (answer === 'not_yet') return answer
    if (!attempt.over) this.#finish(attempt, answer)
    return 'done'
  }

  /** Undefined if the end is not to be written here. */
  async #endingOf(executor: Executor, attempt: Attempt): Promise<Ending | Lost | Parked | Left | undefined> {
    for (let delay = RETRY_MS; ; delay = Math.min(delay * 2, MAX_RETRY_MS)) {
      try {
        return await executor.run(attempt, this.#kernel)
      } catch (error) {
        if (this.#options.served.keeping === undefined) return endingOfThrown(attempt, error)
        if (attempt.over) return undefined
        // An error here says nothing about the program, which its keeper may still run.
        this.#edges.onTrouble(error, `executing ${attempt.record.pid}`)
      }
      await this.#target.pause(delay)
      if (attempt.over || (await this.#isElsewhere(attempt))) return undefined
    }
  }

  /** Whether the process has ended, or another holder has its lease: then the attempt is forgotten here. */
  async #isElsewhere(attempt: Attempt): Promise<boolean> {
    const { pid } = attempt.record
    try {
      const row = await this.#edges.store.ask({ ask: 'process', pid })
      if (row !== null && !hasEnded(row.record) && row.holder === this.#options.holder()) return false
    } catch (error) {
      if (!(error instanceof ReeveError)) throw error
      return false
    }
    this.#forget(attempt)
    return true
  }

  /** Trouble kept it from going on: the process is queued again. */
  async #release(attempt: Attempt): Promise<void> {
    if ((await this.#writes.release(attempt)) !== undefined) this.#options.running.forget(attempt)
  }

  /** Undefined: the attempt was over before its end could be written. */
  #finish(attempt: Attempt, answer: FinalAnswer | undefined): void {
    if (answer === undefined) return
    this.#forget(attempt)
    if (answer.type === 'written' && answer.row !== null) this.#kernel.carryOn(answer.row)
    if (isRefused(answer)) this.#edges.onTrouble(new Error(answer.message), `ending ${attempt.record.pid}`)
  }

  #forget(attempt: Attempt): void {
    this.#options.running.forget(attempt)
    this.#options.served.runnerOf(attempt.record)?.settled?.(attempt.record.pid)
  }
}

/** The final writes of a kernel's attempts go to its own store. */
class StoreFinalWrites implements FinalWriteTarget {
  readonly retryMs = RETRY_MS
  readonly maxRetryMs = MAX_RETRY_MS
  readonly #edges: Edges
  readonly #holder: () => string
  readonly #isClosed: () => boolean

  constructor(edges: Edges, holder: () => string, isClosed: () => boolean) {
    this.#edges = edges
    this.#holder = holder
    this.#isClosed = isClosed
  }

  async send(attempt: Attempt, write: FinalWrite): Promise<FinalAnswer> {
    const fence = attempt.fence()
    const performed =
      write.type === 'give_up_stop'
        ? await performAs(this.#edges, attempt, write)
        : await perform(this.#edges, this.#intentOf(attempt, write, fence))
    // A release under a stale fence is no refusal: it keeps everything as it is.
    const isStale =
      write.type === 'release' || (performed.type === 'refused' && performed.refusal.code === 'stale_fence')
    if (isStale && (await this.#hasNewFence(attempt, fence))) return { type: 'fence_rose' }
    return finalAnswer(performed, write)
  }

  isTemporary(error: unknown): boolean {
    return error instanceof ReeveError && !this.#isClosed()
  }

  onRetry(error: unknown, attempt: Attempt, { type }: FinalWrite): void {
    this.#edges.onTrouble(error, `${DOING[type]} ${attempt.record.pid}`)
    if (type !== 'end') return
    attempt.isUnrecorded = true
    attempt.settled()
  }

  pause(ms: number): Promise<void> {
    return new Promise((resolve) => void this.#edges.clock.after(ms, resolve))
  }

  #intentOf(attempt: Attempt, write: Exclude<FinalWrite, { type: 'give_up_stop' }>, fence: Fence): Intent {
    const actor = `kernel:${this.#holder()}` as const
    const asked = { pid: attempt.record.pid, actor, at: this.#edges.clock.now() }
    if (write.type === 'release') return { type: 'release', ...asked, fence }
    const { ending, replayKey } = write
    if (ending.status !== 'abandoned') return { type: 'end', ...asked, ending, replayKey, fence }
    const { evidence, result = null } = ending
    return { type: 'abandon', ...asked, observed: fence, evidence, result }
  }

  /** Whether this kernel's row lapsed during the write and the kernel reclaimed the lease under a new fence. */
  async #hasNewFence(attempt: Attempt, stale: Fence): Promise<boolean> {
    const row = await this.#edges.store.ask({ ask: 'process', pid: attempt.record.pid })
    if (row?.holder !== this.#holder() || row.fence <= stale.fence) return false
    // The process was lost and then claimed again: the lease belongs to a later attempt.
    if (row.record.attempts !== attempt.record.attempts) return false
    attempt.fenceNumber = row.fence
    return true
  }
}

const DOING = { end: 'ending', release: 'releasing', give_up_stop: 'stopping' } as const

function finalAnswer(performed: Performed, { type }: FinalWrite): FinalAnswer {
  if (performed.type !== 'refused') return { type: 'written', row: performed.row }
  const { refusal } = performed
  if (isSuperseded(refusal.code)) return { type: 'superseded' }
  if (type === 'end' && refusal.code === 'payload_too_large')
    return { type: 'unstorable', message: refusal.message }
  return { type: 'refused', code: refusal.code, message: refusal.message }
}
