import { setTimeout as sleep } from 'node:timers/promises'
import { newestNotices } from './newest-notices.ts'
import type { Asking } from './resource-watch.ts'

/** As long as an answer is held back for. */
const WAIT_MS = 20_000
/** How long it is left alone where nobody answers. */
const AGAIN_MS = 500

/**
 * Tells when a session is told something. It waits for that instead of looking again and again: a look makes sentences, and
 * reads logs for them. Resolves when what comes from now on will be told.
 */
export async function watchInbox(
  asking: () => Promise<Asking>,
  tell: () => void,
  signal: AbortSignal,
): Promise<void> {
  let seen = await newest(asking).catch(() => null)
  const watch = async () => {
    while (!signal.aborted) {
      try {
        seen = await next(asking, seen, tell, signal)
      } catch {
        // Out of reach, or not there yet.
        await sleep(AGAIN_MS, undefined, { signal, ref: false }).catch(() => {})
      }
    }
  }
  void watch()
}

interface Seen {
  readonly session: string
  readonly place: number
}

async function newest(asking: () => Promise<Asking>): Promise<Seen> {
  const { acting, session } = await asking()
  const [last] = await newestNotices(acting, session, 1)
  return { session, place: last?.place ?? 0 }
}

/** Waits for what comes behind what was seen. Another session, which a client may be in by now, has another inbox. */
async function next(
  asking: () => Promise<Asking>,
  seen: Seen | null,
  tell: () => void,
  signal: AbortSignal,
): Promise<Seen> {
  const { acting, session } = await asking()
  if (seen === null || seen.session !== session) {
    const now = await newest(asking)
    if (seen !== null) tell()
    return now
  }
  const enough = new AbortController()
  const either = AbortSignal.any([signal, enough.signal])
  const moved = setInterval(() => {
    asking().then(
      (now) => now.session !== session && enough.abort(),
      () => {},
    )
  }, AGAIN_MS).unref()
  try {
    const about = { scope: `session:${session}`, all: true, after: seen.place, limit: 1, waitMs: WAIT_MS }
    const { notices } = await acting.notices(about, { signal: either })
    if (signal.aborted || notices.length === 0) return seen
    tell()
    return await newest(asking)
  } finally {
    clearInterval(moved)
  }
}
