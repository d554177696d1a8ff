import { ReeveError } from '../core/errors.ts'
import type { Fence } from '../core/lease/lease.ts'
import type { Intent } from '../core/process/intent.ts'
import type { Attempt } from './attempt.ts'
import type { Edges } from './edges.ts'
import { type FinalAnswer, type FinalWrite, type FinalWriteTarget, isSuperseded } from './final-writes.ts'
import { type Performed, perform } from './perform.ts'
import { performAs } from './perform-as.ts'

const RETRY_MS = 200
const MAX_RETRY_MS = 5_000

/** The final writes of a kernel's attempts go to its own store. */
export class StoreFinalWrites implements FinalWriteTarget {
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
