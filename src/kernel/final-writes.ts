import { messageOf } from '../base/error-text.ts'
import { RefusedError } from '../core/errors.ts'
import type { Ending } from '../core/process/intent.ts'
import type { ProcessRow } from '../core/process/row.ts'
import type { Attempt } from './attempt.ts'
import type { Lost } from './executor.ts'

/** A write that finishes an attempt. */
export type FinalWrite =
  | { readonly type: 'end'; readonly ending: Ending | Lost; readonly replayKey: string }
  | { readonly type: 'release' }
  | { readonly type: 'give_up_stop' }

export type FinalAnswer =
  | { readonly type: 'written'; readonly row: ProcessRow | null }
  /** The process has ended already, or another holder has its lease. */
  | { readonly type: 'superseded' }
  /** The holder claimed its own lease again during the write: the new fence counts. */
  | { readonly type: 'fence_rose' }
  /** This end cannot be stored, for example because its result is too large. */
  | { readonly type: 'unstorable'; readonly message: string }
  | { readonly type: 'refused'; readonly code: string; readonly message: string }

/** Where final writes go: a kernel's store, or the daemon of a worker. */
export interface FinalWriteTarget {
  /** Sends one write under the attempt's current fence. */
  send(attempt: Attempt, write: FinalWrite): Promise<FinalAnswer>
  /** Whether a thrown error says nothing about the write, so that the same write is sent again. */
  isTemporary(error: unknown): boolean
  onRetry(error: unknown, attempt: Attempt, write: FinalWrite): void
  pause(ms: number): Promise<void>
  readonly retryMs: number
  readonly maxRetryMs: number
}

/**
 * How an attempt is finished, in a kernel and in a worker alike. An unavailable target is retried until it
 * answers, or until the attempt is over because its lease is lost or its holder closes. Then the answer is undefined.
 */
export class FinalWrites {
  readonly #target: FinalWriteTarget

  constructor(target: FinalWriteTarget) {
    this.#target = target
  }

  /** Writes the end. An end that cannot be stored becomes a failure that says why. */
  async end(attempt: Attempt, ending: Ending | Lost, replayKey: string): Promise<FinalAnswer | undefined> {
    const answer = await this.#send(attempt, { type: 'end', ending, replayKey })
    if (answer?.type !== 'unstorable') return answer
    const failed: Ending = { status: 'failed', reason: answer.message }
    return this.#send(attempt, { type: 'end', ending: failed, replayKey })
  }

  /** Gives the lease back. Under a stale fence that changes nothing. */
  release(attempt: Attempt): Promise<FinalAnswer | undefined> {
    return this.#send(attempt, { type: 'release' })
  }

  /** Sent once. The caller asks again after `not_yet`: the grace is not over, or the target is unavailable. */
  async giveUpStop(attempt: Attempt): Promise<FinalAnswer | 'not_yet'> {
    const write = { type: 'give_up_stop' } as const
    try {
      const answer = await this.#target.send(attempt, write)
      const isEarly = answer.type === 'refused' && answer.code === 'stopping'
      return isEarly || answer.type === 'fence_rose' ? 'not_yet' : answer
    } catch (error) {
      if (!this.#target.isTemporary(error)) throw error
      this.#target.onRetry(error, attempt, write)
      return 'not_yet'
    }
  }

  async #send(attempt: Attempt, write: FinalWrite): Promise<FinalAnswer | undefined> {
    const { retryMs, maxRetryMs } = this.#target
    for (let delay = retryMs; !attempt.over; delay = Math.min(delay * 2, maxRetryMs)) {
      try {
        const answer = await this.#target.send(attempt, write)
        if (answer.type === 'fence_rose') continue
        return answer
      } catch (error) {
        if (!this.#target.isTemporary(error)) throw error
        this.#target.onRetry(error, attempt, write)
      }
      await this.#target.pause(delay)
    }
    return undefined
  }
}

/** The end of an attempt whose code threw: `cancelled` if a stop was requested, else `failed`. */
export function endingOfThrown(attempt: Attempt, error: unknown): Ending {
  if (attempt.stopped !== undefined) return { status: 'cancelled' }
  const message = messageOf(error)
  const code = error instanceof RefusedError ? { code: error.code } : {}
  return { status: 'failed', reason: message, result: { error: message, ...code } }
}

export function isRefused(
  answer: FinalAnswer,
): answer is Extract<FinalAnswer, { type: 'refused' | 'unstorable' }> {
  return answer.type === 'refused' || answer.type === 'unstorable'
}

/** Whether a refused final write is another holder's business: it has ended, or its lease is elsewhere. */
export function isSuperseded(code: string): boolean {
  return code === 'stale_fence' || code === 'already_ended'
}
