import { setTimeout as sleep } from 'node:timers/promises'
import type { ReeveError } from '../core/errors.ts'
import { isBroken, mayBeSent } from './broken.ts'

export interface RetryOptions {
  /** The call may be repeated after the daemon received it, and perhaps performed it. */
  readonly safe: boolean
  /** How long to retry; streams retry without a limit. */
  readonly forMs: number
  readonly signal?: AbortSignal | undefined
  /** Retry as long as daemons come back, however often they stop: the time counts from when the last one was there. */
  readonly outlastsRestarts?: boolean
  /** Whether a daemon has answered at this address before. A server that only closes connections may be another program. */
  readonly hasAnswered: () => boolean
  /** The daemon may hold the call for long before the connection breaks, so only calls that break at once count as cuts in a row. */
  readonly isWait?: boolean
  /** Starts a daemon if the client may, and returns its identity; throws if none can be started. */
  readonly revive?: ((wasHeard: boolean) => Promise<string | undefined>) | undefined
}

const FIRST_MS = 50
const MAX_DELAY_MS = 2_000
/** How often in a row a received call may be cut: the call itself may crash every daemon. */
const MAX_CUTS = 20

/**
 * Retries with exponential backoff while the daemon cannot be reached. Any other error is thrown at once. The time counts from
 * the first failure to reach the daemon, not from the call: a wait may be hours old when the daemon is restarted. It starts again
 * only when a daemon is known to have been there.
 */
export async function retrying<Answer>(
  attempt: () => Promise<Answer>,
  { safe, forMs, signal, outlastsRestarts = false, hasAnswered, isWait = false, revive }: RetryOptions,
): Promise<Answer> {
  const maxCuts = forMs === Number.POSITIVE_INFINITY ? forMs : MAX_CUTS
  let cuts = 0
  let missedSince: number | undefined
  let wasHeard = false
  let daemon: string | undefined
  for (let delay = FIRST_MS; ; delay = Math.min(delay * 2, MAX_DELAY_MS)) {
    const began = Date.now()
    try {
      return await attempt()
    } catch (error) {
      if (!isBroken(error) || !mayRepeat(error, safe)) throw error
      wasHeard ||= mayBeSent(error)
      const now = Date.now()
      const isHeard = mayBeSent(error) && hasAnswered()
      const isSteady = isHeard && now - began > MAX_DELAY_MS
      if (isSteady && isWait) cuts = 0
      else if (mayBeSent(error)) cuts++
      if (isSteady || missedSince === undefined) delay = FIRST_MS
      // The daemon received the call, so it had come back.
      if (isSteady || (outlastsRestarts && isHeard)) missedSince = undefined
      missedSince ??= now
      if (now - missedSince + delay > forMs || cuts >= maxCuts) throw error
      // Jitter: the clients of a daemon that restarts must not reconnect all at once.
      await sleep(delay / 2 + (Math.random() * delay) / 2, undefined, signal === undefined ? {} : { signal })
      const revived = await revive?.(wasHeard)
      // A daemon that is killed again before the next attempt had come back, too.
      if (outlastsRestarts && revived !== daemon) missedSince = undefined
      daemon = revived
    }
  }
}

/** A socket of another user stays one, so EACCES is not retried. */
function mayRepeat(error: ReeveError, safe: boolean): boolean {
  if (error.details['reason'] === 'EACCES') return false
  return safe || !mayBeSent(error)
}
