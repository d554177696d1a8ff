import { messageOf } from '../base/error-text.ts'
import { RefusedError } from '../core/errors.ts'
import type { Fence } from '../core/lease/lease.ts'
import type { Ending, Intent } from '../core/process/intent.ts'
import type { Attempt } from './attempt.ts'
import type { Lost } from './executor.ts'
import type { Performed } from './perform.ts'

type Asked = Pick<Intent, 'pid' | 'actor' | 'at'>

/** What writes the end of an attempt: how it came out, or that it was lost. */
export function endIntent(asked: Asked, ending: Ending | Lost, fence: Fence, replayKey: string): Intent {
  if (ending.status !== 'abandoned') return { type: 'end', ...asked, ending, replayKey, fence }
  const { evidence, result = null } = ending
  return { type: 'abandon', ...asked, observed: fence, evidence, result }
}

/** What an executor that threw comes to: a stop, where one was asked for. */
export function endingOfThrown(attempt: Attempt, error: unknown): Ending {
  if (attempt.stopped !== undefined) return { status: 'cancelled' }
  const message = messageOf(error)
  const code = error instanceof RefusedError ? { code: error.code } : {}
  return { status: 'failed', reason: message, result: { error: message, ...code } }
}

export function isStale(performed: Performed): boolean {
  return performed.type === 'refused' && performed.refusal.code === 'stale_fence'
}
