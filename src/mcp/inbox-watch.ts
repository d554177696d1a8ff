import { setTimeout as sleep } from 'node:timers/promises'
import { newestNotices } from './newest-notices.ts'
import type { SessionAccess } from './resource-watch.ts'

/** How long one request waits for a notice. */
const WAIT_MS = 20_000
/** The pause after a failed request. */
const RETRY_MS = 500

/**
 * Calls `tell` for every new notice of a session. It waits instead of polling, because each poll composes sentences and
 * reads logs for them. Resolves when every later notice will be reported.
 */
export async function watchInbox(
  access: () => Promise<SessionAccess>,
  tell: () => void,
  signal: AbortSignal,
): Promise<void> {
  let seen = await newest(access).catch(() => null)
  const watch = async () => {
    while (!signal.aborted) {
      try {
        seen = await next(access, seen, tell, signal)
      } catch {
        // The daemon is unreachable, or the session does not exist yet.
        await sleep(RETRY_MS, undefined, { signal, ref: false }).catch(() => {})
      }
    }
  }
  void watch()
}

interface Seen {
  readonly session: string
  readonly position: number
}

async function newest(access: () => Promise<SessionAccess>): Promise<Seen> {
  const { acting, session } = await access()
  const [last] = await newestNotices(acting, session, 1)
  return { session, position: last?.position ?? 0 }
}

/** Waits for the next notice. The client may have moved on to another session, which has another inbox. */
async function next(
  access: () => Promise<SessionAccess>,
  seen: Seen | null,
  tell: () => void,
  signal: AbortSignal,
): Promise<Seen> {
  const { acting, session } = await access()
  if (seen === null || seen.session !== session) {
    const now = await newest(access)
    if (seen !== null) tell()
    return now
  }
  const stop = new AbortController()
  const either = AbortSignal.any([signal, stop.signal])
  const moved = setInterval(() => {
    access().then(
      (now) => now.session !== session && stop.abort(),
      () => {},
    )
  }, RETRY_MS).unref()
  try {
    const about = { scope: `session:${session}`, all: true, after: seen.position, limit: 1, waitMs: WAIT_MS }
    const { notices } = await acting.notices(about, { signal: either })
    if (signal.aborted || notices.length === 0) return seen
    tell()
    return await newest(access)
  } finally {
    clearInterval(moved)
  }
}
