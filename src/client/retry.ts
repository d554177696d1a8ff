import { setTimeout as sleep } from 'node:timers/promises'
import type { ReeveError } from '../core/errors.ts'
import { isBroken, mayBeSent } from './broken.ts'

export interface RetryOptions {
  /** What was heard, and perhaps done, may be asked again. */
  readonly safe: boolean
  /** How long to go on; a stream that is wanted goes on for ever. */
  readonly forMs: number
  readonly signal?: AbortSignal | undefined
  /** Brings a daemon up again, where whoever connects can; throws where there is none to come. */
  readonly revive?: ((wasHeard: boolean) => Promise<void>) | undefined
}

const FIRST_MS = 50
const MOST_MS = 2_000

/**
 * Tries again, after longer and longer moments, while the daemon cannot be reached. Any other error is thrown at once. The time
 * counts from when the daemon was first missed, not from the call: a wait may be hours old when the daemon is restarted.
 */
export async function retrying<Answer>(
  attempt: () => Promise<Answer>,
  { safe, forMs, signal, revive }: RetryOptions,
): Promise<Answer> {
  let missedSince: number | undefined
  let wasHeard = false
  for (let delay = FIRST_MS; ; delay = Math.min(delay * 2, MOST_MS)) {
    const began = Date.now()
    try {
      return await attempt()
    } catch (error) {
      if (!isBroken(error) || !mayRepeat(error, safe)) throw error
      wasHeard ||= mayBeSent(error)
      const now = Date.now()
      // It was heard, and for a while: the daemon had been back.
      if (mayBeSent(error) && now - began > MOST_MS) missedSince = undefined
      if (missedSince === undefined) delay = FIRST_MS
      missedSince ??= now
      if (now - missedSince + delay > forMs) throw error
      // Half of it by chance, so that the clients of a daemon that restarts do not come all at once.
      await sleep(delay / 2 + (Math.random() * delay) / 2, undefined, signal === undefined ? {} : { signal })
      await revive?.(wasHeard)
    }
  }
}

/** A foreign socket does not become ours by waiting. */
function mayRepeat(error: ReeveError, safe: boolean): boolean {
  if (error.details['reason'] === 'EACCES') return false
  return safe || !mayBeSent(error)
}
