import { cursorOf, emptyInbox, take } from '../core/inbox/inbox.ts'
import { isNews, wasSeenIn } from '../core/inbox/readers.ts'
import type { Scope } from '../core/process/record.ts'
import { know, type StoredNotice } from '../store/contract.ts'
import type { Edges } from './edges.ts'
import { releaseDue } from './overflow.ts'
import type { PlanPart } from './plan-part.ts'
import type { Reading } from './read-notices.ts'
import { WorkingRows } from './working-rows.ts'

export interface TakenNotices {
  readonly notices: readonly StoredNotice[]
  /** Until then no other consumer gets them. */
  readonly until: number
  /** When a notice that another consumer has taken becomes available again, unless it is acknowledged. */
  readonly nextAt: number | null
}

/** How many notices are read at a time, beside those that the turn has seen already. */
const NEWS_PAGE = 200

/**
 * Gives notices to one consumer alone, for `visibilityMs`. The plan reads the inbox's row before the notices: if another
 * consumer takes or acknowledges some before the commit, the row has changed, and the plan is decided again.
 */
export async function takeNotices(
  edges: Edges,
  asked: Omit<Reading, 'after' | 'newest' | 'all' | 'releases'> & {
    readonly consumer: string
    readonly visibilityMs: number
  },
): Promise<TakenNotices> {
  const { scope, consumer, limit, turn, visibilityMs } = asked
  if (await isQuiet(edges, scope, consumer))
    return { notices: [], until: edges.clock.now() + visibilityMs, nextAt: null }
  return edges.store.write(function* () {
    const at = edges.clock.now()
    const rows = new WorkingRows()
    const { inbox: was, changes } = yield* releaseDue(rows, scope, at)
    rows.add(changes)
    const inbox = was ?? emptyInbox(scope)
    const after = cursorOf(inbox, consumer)
    const news = yield* newsOf(scope, { after, turn, enough: limit + inbox.taken.length })
    const positions = news.map(({ position }) => position)
    const taken = take(inbox, positions, { consumer, at, visibilityMs, limit })
    if (taken.given.length > 0) rows.add([{ type: 'inbox', was, inbox: taken.inbox }])
    const given = new Set(taken.given)
    const others = inbox.taken.filter(({ until }) => until > at).map(({ until }) => until)
    const { tripped } = inbox.overflow
    const later = tripped === null ? others : [...others, tripped.until]
    const answer: TakenNotices = {
      notices: news.filter(({ position }) => given.has(position)),
      until: taken.until,
      nextAt: later.length === 0 ? null : Math.min(...later),
    }
    return { answer, changes: rows.changes }
  })
}

/** Open notices that the turn has not seen, in order: at least `enough` of them, or all there are. */
function* newsOf(
  scope: Scope,
  asked: { readonly after: number; readonly turn: string | undefined; readonly enough: number },
): PlanPart<StoredNotice[]> {
  const news: StoredNotice[] = []
  const limit = asked.enough + NEWS_PAGE
  let { after } = asked
  for (;;) {
    const open = yield* know({ ask: 'notices', scope, open: true, after, limit })
    const position = { reader: null, own: asked.after, shared: asked.after }
    news.push(...open.filter((notice) => !wasSeenIn(asked.turn, notice) && isNews(notice, position)))
    after = open.at(-1)?.position ?? after
    if (open.length < limit || news.length >= asked.enough) return news
  }
}

/** Whether there is nothing to take. A waiting consumer asks often, and this costs no write. */
async function isQuiet(edges: Edges, scope: Scope, consumer: string): Promise<boolean> {
  const inbox = await edges.store.ask({ ask: 'inbox', scope })
  if (inbox !== null && inbox.overflow.tripped !== null) return false
  const after = cursorOf(inbox, consumer)
  return (await edges.store.ask({ ask: 'notices', scope, after, limit: 1, open: true })).length === 0
}
