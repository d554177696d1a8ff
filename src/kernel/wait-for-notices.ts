import { mayNotify } from '../core/inbox/may-notify.ts'
import type { StoredEvent } from '../core/process/event.ts'
import type { Edges } from './edges.ts'
import type { Feed } from './feed.ts'

/**
 * Repeats `ask` until it finds notices, the time is over, or the caller's signal is aborted. It subscribes before it asks, so
 * that no notice falls in between. Every notice has an event in the feed, which tells when to ask again; `nextAt` covers
 * notices that become available without an event.
 */
export async function waitForNotices<
  Answer extends { readonly notices: readonly unknown[]; readonly nextAt: number | null },
>(
  edges: Edges,
  feed: Feed,
  ask: () => Promise<Answer>,
  { waitMs, signal }: { readonly waitMs: number; readonly signal?: AbortSignal },
): Promise<Answer> {
  let over = waitMs === 0
  let heard = false
  let wake = () => {}
  const nudge = () => {
    heard = true
    wake()
  }
  const finish = () => {
    over = true
    wake()
  }
  const hear = (events: readonly StoredEvent[]) => {
    if (events.some(mayNotify)) nudge()
  }
  const offs = [feed.onAll(hear), feed.onStop(finish)]
  if (waitMs > 0) offs.push(edges.clock.after(waitMs, finish))
  signal?.addEventListener('abort', finish)
  try {
    for (;;) {
      heard = false
      const answer = await ask()
      const { notices, nextAt } = answer
      if (notices.length > 0 || over || signal?.aborted === true) return answer
      const cancel =
        nextAt === null ? () => {} : edges.clock.after(Math.max(0, nextAt - edges.clock.now()), nudge)
      if (!heard && !over)
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      cancel()
    }
  } finally {
    for (const off of offs) off()
    signal?.removeEventListener('abort', finish)
  }
}
