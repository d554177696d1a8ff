import { setTimeout as sleep } from 'node:timers/promises'
import { positionOf } from '../client/connect.ts'
import type { ReeveVerbs } from '../verbs/reeve.ts'
import type { McpReeve } from './session.ts'

/** The pause after a failed request. */
const RETRY_MS = 500
/** The least time between two reports about one resource. */
const QUIET_MS = 200

type Event = Awaited<ReturnType<ReeveVerbs['changes']>>['events'][number]

/** The change feed, as an actor sees it. */
export interface Feed {
  readonly acting: ReeveVerbs
  /** From where on no later change is missed; undefined if that is unknown. */
  position(): number | undefined
}

export function feedOf(reeve: McpReeve, acting: ReeveVerbs): Feed {
  return { acting, position: () => positionOf(acting) ?? reeve.position?.() }
}

interface Watched {
  /** The process whose events count; those of all processes without it. */
  readonly pid?: string
  readonly isWanted: (event: Event) => boolean
}

/**
 * Calls `tell` when an event is wanted, at most a few times a second. Survives restarts of the daemon. Resolves when every later
 * event will be reported: true; or false if the feed cannot be followed from here.
 */
export async function watchFeed(
  open: () => Promise<Feed>,
  { pid, isWanted }: Watched,
  tell: () => void,
  signal: AbortSignal,
): Promise<boolean> {
  const report = atMostEvery(QUIET_MS, tell, signal)
  const begin = async () => {
    const { acting, position } = await open()
    // Any answer has the position; the answer about the process also says whether it can be seen.
    await (pid === undefined ? acting.list({ limit: 1 }) : acting.show({ pid }))
    return { acting, after: position() }
  }
  const follow = async ({ acting, after }: { acting: ReeveVerbs; after: number }) => {
    const filter = pid === undefined ? {} : { filter: { pid: [pid], status: 'any' as const } }
    for await (const event of acting.follow({ after, ...filter }, { signal })) if (isWanted(event)) report()
  }
  const first = await begin()
  if (first.after === undefined) return false
  const watch = async () => {
    let from: { acting: ReeveVerbs; after: number } | null = { acting: first.acting, after: first.after ?? 0 }
    while (!signal.aborted) {
      try {
        if (from === null) {
          const { acting, after = 0 } = await begin()
          from = { acting, after }
          // Something may have happened while the feed was not followed.
          report()
        }
        await follow(from)
      } catch {
        // The daemon is unreachable, or the process was removed.
      }
      from = null
      await sleep(RETRY_MS, undefined, { signal, ref: false }).catch(() => {})
    }
  }
  void watch()
  return true
}

/** Calls at once, and once more after the pause if there was another reason meanwhile. */
function atMostEvery(ms: number, act: () => void, signal: AbortSignal): () => void {
  let timer: NodeJS.Timeout | undefined
  let isDue = false
  const run = () => {
    if (signal.aborted) return
    act()
    isDue = false
    timer = setTimeout(() => {
      timer = undefined
      if (isDue) run()
    }, ms).unref()
  }
  return () => {
    if (timer === undefined) run()
    else isDue = true
  }
}
