import { setTimeout as sleep } from 'node:timers/promises'
import type { ReeveError } from '../core/errors.ts'
import { isBroken, mayBeSent } from './broken.ts'

export interface RetryOptions {
  /** What was heard, and perhaps done, may be asked again. */
  readonly safe: boolean
  /** How long to go on; a stream that is wanted goes on for ever. */
  readonly forMs: number
  readonly signal?: AbortSignal | undefined
  /** Go on as long as daemons come back, however often they go: the time counts from when the last one was there. */
  readonly outlastsRestarts?: boolean
  /** Whether a daemon has answered at this address before. A server that only hangs up is not known to be one. */
  readonly hasAnswered: () => boolean
  /** A call may be held for long before it is cut, so only calls that are cut at once count as cut in a row. */
  readonly isWait?: boolean
  /** Starts a daemon where the client may, and answers with its identity; throws if none can be started. */
  readonly revive?: ((wasHeard: boolean) => Promise<string | undefined>) | undefined
}

const FIRST_MS = 50
const MAX_MS = 2_000
/** How often in a row a call may be heard and cut: it may be the call that makes every daemon crash. */
const MAX_CUTS = 20

/**
 * Tries again, after longer and longer moments, while the daemon cannot be reached. Any other error is thrown at once. The time
 * counts from when the daemon was first missed, not from the call: a wait may be hours old when the daemon is restarted. It
 * counts again only when a daemon is known to have been there.
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
  for (let delay = FIRST_MS; ; delay = Math.min(delay * 2, MAX_MS)) {
    const began = Date.now()
    try {
      return await attempt()
    } catch (error) {
      if (!isBroken(error) || !mayRepeat(error, safe)) throw error
      wasHeard ||= mayBeSent(error)
      const now = Date.now()
      const isHeard = mayBeSent(error) && hasAnswered()
      const isSteady = isHeard && now - began > MAX_MS
      if (isSteady && isWait) cuts = 0
      else if (mayBeSent(error)) cuts++
      if (isSteady || missedSince === undefined) delay = FIRST_MS
      // The daemon heard the call, so it had come back.
      if (isSteady || (outlastsRestarts && isHeard)) missedSince = undefined
      missedSince ??= now
      if (now - missedSince + delay > forMs || cuts >= maxCuts) throw error
      // Half of it by chance, so that the clients of a daemon that restarts do not come all at once.
      await sleep(delay / 2 + (Math.random() * delay) / 2, undefined, signal === undefined ? {} : { signal })
      const revived = await revive?.(wasHeard)
      // One that is killed again before the next attempt had come back, too.
      if (outlastsRestarts && revived !== daemon) missedSince = undefined
      daemon = revived
    }
  }
}

/** A foreign socket does not become ours by waiting. */
function mayRepeat(error: ReeveError, safe: boolean): boolean {
  if (error.details['reason'] === 'EACCES') return false
  return safe || !mayBeSent(error)
}
