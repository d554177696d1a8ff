import {
  type InboxPosition,
  isNews,
  joinPages,
  positionIn,
  type Reader,
  readerMark,
  wasSeenIn,
} from '../core/inbox/readers.ts'
import type { Scope } from '../core/process/record.ts'
import type { StoredNotice } from '../store/contract.ts'
import type { Edges } from './edges.ts'
import { release } from './overflow.ts'

export interface Reading {
  readonly scope: Scope
  /** Its cursor is where the read begins, unless `after` is given. Notices that it acknowledged are not shown again. */
  readonly consumer?: string
  readonly after?: number
  readonly limit: number
  /** Notices that were seen in this turn are left out. */
  readonly turn?: string
  /** One of several readers of this consumer, with a cursor of its own. */
  readonly reader?: Reader
  /** The newest instead of the oldest. */
  readonly newest?: boolean
  /** Also notices that are done. */
  readonly all?: boolean
  /** Whether the read releases held-back matches that are due, or leaves that to the kernel. True by default. */
  readonly releases?: boolean
}

export interface ReadNotices {
  readonly notices: readonly StoredNotice[]
  /** The start of the next read: behind everything that this one read. */
  readonly next: number
  readonly more: boolean
  /** When held-back matches are released. */
  readonly nextAt: number | null
}

/** How soon a reader that may not release matches checks whether the kernel has. */
const RELEASE_CHECK_MS = 1_000

/** Reads without taking, so any number of consumers may read. */
export async function readNotices(edges: Edges, reading: Reading): Promise<ReadNotices> {
  const { scope, consumer, limit, turn, reader, newest = false, all = false, releases = true } = reading
  const inbox = await edges.store.ask({ ask: 'inbox', scope })
  const tripped = inbox?.overflow.tripped ?? null
  const nextAt =
    tripped === null
      ? null
      : releases
        ? await release(edges, scope)
        : Math.max(tripped.until, edges.clock.now() + RELEASE_CHECK_MS)
  const position = positionIn(inbox, {
    ...(consumer === undefined ? {} : { consumer }),
    ...(reader === undefined ? {} : { reader }),
  })
  let next = Math.max(reading.after ?? 0, position.own)
  for (;;) {
    const page = { scope, after: next, limit, newest }
    const { items, isFull } = all ? await anyPage(edges, page) : await newsPage(edges, page, position)
    const notices = items.filter((notice) => !wasSeenIn(turn, notice) && (all || isNews(notice, position)))
    next = items.at(-1)?.position ?? next
    const more = !newest && isFull
    // A page without news is not the end: a waiting caller would miss the news behind it.
    if (notices.length > 0 || !more) return { notices, next, more, nextAt }
  }
}

interface NoticePage {
  readonly scope: Scope
  readonly after: number
  readonly limit: number
  readonly newest: boolean
}

async function anyPage(edges: Edges, page: NoticePage) {
  const items = await edges.store.ask({ ask: 'notices', ...page })
  return { items, isFull: items.length === page.limit }
}

/** A page with everything that may be news: open notices, and for a reader also those consumed by others since it connected. */
async function newsPage(edges: Edges, page: NoticePage, { reader, shared }: InboxPosition) {
  const { after, limit, newest } = page
  const open = await edges.store.ask({ ask: 'notices', ...page, after: Math.max(after, shared), open: true })
  if (reader === null) return { items: open, isFull: open.length === limit }
  const sinceConnected = await edges.store.ask({
    ask: 'notices',
    ...page,
    toldSince: reader.since,
    unobserved: readerMark(reader),
  })
  return joinPages([open, sinceConnected], limit, newest)
}
