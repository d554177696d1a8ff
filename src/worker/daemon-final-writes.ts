import { messageOf } from '../base/error-text.ts'
import { pause } from '../base/pause.ts'
import { RefusedError } from '../core/errors.ts'
import type { Attempt } from '../kernel/attempt.ts'
import {
  type FinalAnswer,
  type FinalWrite,
  type FinalWriteTarget,
  isSuperseded,
} from '../kernel/final-writes.ts'
import { systemClock } from '../store/system-clock.ts'
import type { InputOf, Reeve } from '../verbs/reeve.ts'
import { isTrouble } from '../workflow/attempt-writer.ts'

/** Between the first retries, and at most. */
export const RETRY_MS = 500
export const MAX_RETRY_MS = 10_000

/** The final writes of a worker's attempts go to its daemon, or to the next one. */
export class DaemonFinalWrites implements FinalWriteTarget {
  readonly retryMs = RETRY_MS
  readonly maxRetryMs = MAX_RETRY_MS
  readonly #reeve: Reeve
  readonly #closed: AbortSignal

  /** `closed`: nothing is written any more. */
  constructor(reeve: Reeve, closed: AbortSignal) {
    this.#reeve = reeve
    this.#closed = closed
  }

  async send(attempt: Attempt, write: FinalWrite): Promise<FinalAnswer> {
    const { holder, fence } = attempt.fence()
    try {
      await this.#reeve.doWork({ worker: holder, pid: attempt.record.pid, fence, act: actOf(write) })
      return { type: 'written', row: null }
    } catch (error) {
      if (isTrouble(error)) throw error
      return finalAnswer(error, write)
    }
  }

  isTemporary(error: unknown): boolean {
    return isTrouble(error)
  }

  /** A daemon that is away is expected: the next one answers. */
  onRetry(): void {}

  pause(ms: number): Promise<void> {
    return pause(systemClock, ms, this.#closed)
  }
}

function actOf(write: FinalWrite): InputOf<'doWork'>['act'] {
  if (write.type !== 'end') return write
  const { status, result } = write.ending
  if (status === 'abandoned') throw new Error('A worker never loses a process that it executes.')
  const { reason } = write.ending
  return {
    type: 'end',
    status,
    ...(reason === undefined || reason === null ? {} : { reason }),
    ...(result === undefined ? {} : { result }),
  }
}

/** Any other no to an end is about its content, and so is a body that the daemon cannot accept. */
function finalAnswer(error: unknown, { type }: FinalWrite): FinalAnswer {
  const message = messageOf(error)
  const code = error instanceof RefusedError ? error.code : 'internal'
  if (isSuperseded(code)) return { type: 'superseded' }
  return type === 'end' ? { type: 'unstorable', message } : { type: 'refused', code, message }
}
