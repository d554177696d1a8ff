import type { Change } from '../core/change.ts'
import {
  cursorOf,
  emptyInbox,
  moveCursor,
  moveReaderCursor,
  readerCursorOf,
  settle,
  take,
} from '../core/inbox/inbox.ts'
import {
  type InboxPosition,
  isDoneForAll,
  isNews,
  joinPages,
  positionIn,
  type Reader,
  readerMark,
  withMark,
} from '../core/inbox/readers.ts'
import { isReserved, type ReservedEvent, type StoredEvent } from '../core/process/event.ts'
import type { Pid } from '../core/process/pid.ts'
import type { Actor, Scope } from '../core/process/record.ts'
import type { Refusal } from '../core/refusal.ts'
import { know, type Question, type StoredNotice, unchanged } from '../store/contract.ts'
import type { Edges } from './edges.ts'
import type { Feed } from './feed.ts'
import { releaseDue } from './overflow.ts'
import { WorkingRows } from './working-rows.ts'

export interface Reading {
  readonly scope: Scope
  /** Whose cursor is read from, where no place is given; what it acknowledged is not shown again. */
  readonly consumer?: string
  readonly after?: number
  readonly limit: number
  /** What was looked at in this turn is left out. */
  readonly turn?: string
  /** One of several that are this consumer, with a cursor of its own. */
  readonly reader?: Reader
  /** The last of them instead of the first. */
  readonly newest?: boolean
  /** With those that are done, too. */
  readonly all?: boolean
  /** Matches that are held back are released when that is due; else they are left to the kernel. True unless it is said. */
  readonly releases?: boolean
}

export interface TakenNotices {
  readonly notices: readonly StoredNotice[]
  /** Until then nobody else gets them. */
  readonly until: number
  /** When something that is out with others comes back, if nobody acknowledges it. */
  readonly nextAt: number | null
}

export interface ReadNotices {
  readonly notices: readonly StoredNotice[]
  /** Where to go on: behind all that was looked at. */
  readonly next: number
  readonly more: boolean
  /** When matches that are held back are released. */
  readonly nextAt: number | null
}

/** How soon whoever may not release matches looks again whether the kernel has. */
const LOOK_MS = 1_000

/** Reads without taking: any number of consumers may. */
export async function readNotices(edges: Edges, reading: Reading): Promise<ReadNotices> {
  const { scope, consumer, limit, turn, reader, newest = false, all = false, releases = true } = reading
  const inbox = await edges.store.ask({ ask: 'inbox', scope })
  const tripped = inbox?.overflow.tripped ?? null
  const nextAt =
    tripped === null
      ? null
      : releases
        ? await release(edges, scope)
        : Math.max(tripped.until, edges.clock.now() + LOOK_MS)
  const position = positionIn(inbox, {
    ...(consumer === undefined ? {} : { consumer }),
    ...(reader === undefined ? {} : { reader }),
  })
  let next = Math.max(reading.after ?? 0, position.own)
  for (;;) {
    const page = { scope, after: next, limit, newest }
    const { items, isFull } = all ? await anyPage(edges, page) : await newsPage(edges, page, position)
    const notices = items.filter((notice) => !wasSeenIn(turn, notice) && (all || isNews(notice, position)))
    next = items.at(-1)?.place ?? next
    const more = !newest && isFull
    // A page without news is not the end: a caller that waits would wait for what lies behind it.
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

/** All that may be news is in it: open notices, and for a reader also those that others consumed since it connected. */
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

/** How many notices are read at a time while those that a turn has seen already are passed over. */
const NEWS_PAGE = 200

/**
 * Gives notices to one consumer alone, for `visibilityMs`. The inbox's row is asked for before the notices: if it changes
 * until this is committed, somebody else has taken or acknowledged some, and it is decided again.
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
    const places = news.map(({ place }) => place)
    const taken = take(inbox, places, { consumer, at, visibilityMs, limit })
    if (taken.given.length > 0) rows.add([{ type: 'inbox', was, inbox: taken.inbox }])
    const given = new Set(taken.given)
    const others = inbox.taken.filter(({ until }) => until > at).map(({ until }) => until)
    const { tripped } = inbox.overflow
    const later = tripped === null ? others : [...others, tripped.until]
    const answer: TakenNotices = {
      notices: news.filter(({ place }) => given.has(place)),
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
): Asking<StoredNotice[]> {
  const news: StoredNotice[] = []
  const limit = asked.enough + NEWS_PAGE
  let { after } = asked
  for (;;) {
    const open = yield* know({ ask: 'notices', scope, open: true, after, limit })
    const position = { reader: null, own: asked.after, shared: asked.after }
    news.push(...open.filter((notice) => !wasSeenIn(asked.turn, notice) && isNews(notice, position)))
    after = open.at(-1)?.place ?? after
    if (open.length < limit || news.length >= asked.enough) return news
  }
}

/** Nothing is there to be taken: whoever waits looks often, and need not write for that. */
async function isQuiet(edges: Edges, scope: Scope, consumer: string): Promise<boolean> {
  const inbox = await edges.store.ask({ ask: 'inbox', scope })
  if (inbox !== null && inbox.overflow.tripped !== null) return false
  const after = cursorOf(inbox, consumer)
  return (await edges.store.ask({ ask: 'notices', scope, after, limit: 1, open: true })).length === 0
}

export interface Acknowledging {
  readonly scope: Scope
  readonly consumer: string
  /** All up to here, for this consumer alone. */
  readonly through?: number
  /** These, for everybody. */
  readonly places?: readonly number[]
  /** Whose cursor moves; that of the consumer follows the first of its readers. */
  readonly reader?: Reader
}

/**
 * Whoever acknowledges may be wrong about what there is. What is not there is not acknowledged, and no cursor goes beyond the
 * newest notice: it would hide what comes.
 */
export function acknowledge(
  edges: Edges,
  { scope, consumer, through, places = [], reader }: Acknowledging,
): Promise<{
  readonly acknowledged: readonly number[]
  readonly lost: readonly number[]
  readonly through: number
}> {
  return edges.store.write(function* () {
    const at = edges.clock.now()
    const was = yield* know({ ask: 'inbox', scope })
    const there = yield* thereOf(scope, places)
    const settled = settle(was ?? emptyInbox(scope), there, consumer, at)
    const newest = through === undefined ? 0 : yield* newestIn(scope)
    const target = Math.min(through ?? 0, newest)
    const shared = newest === 0 ? settled.inbox : moveCursor(settled.inbox, consumer, target, at)
    const inbox =
      newest === 0 || reader === undefined
        ? shared
        : moveReaderCursor(shared, { consumer, reader: reader.id }, target, at)
    const reached =
      reader === undefined ? cursorOf(inbox, consumer) : readerCursorOf(inbox, consumer, reader.id)
    const answer = { acknowledged: settled.done, lost: settled.lost, through: reached }
    if (there.length === 0 && newest === 0) return unchanged(answer)
    const changes: Change[] = [{ type: 'inbox', was, inbox }]
    if (settled.done.length > 0)
      changes.push({ type: 'notices_done', scope, places: settled.done, how: 'acknowledged' })
    return { answer, changes }
  })
}

type Asking<Answer> = Generator<readonly Question[], Answer, readonly unknown[]>

/** Which of these places have a notice of this scope, done or not; in the order they were given. */
function* thereOf(scope: Scope, places: readonly number[]): Asking<readonly number[]> {
  if (places.length === 0) return []
  const wanted = [...new Set(places)]
  const found = yield* know({ ask: 'notices', scope, after: 0, limit: wanted.length, places: wanted })
  const there = new Set(found.map(({ place }) => place))
  return wanted.filter((place) => there.has(place))
}

function* newestIn(scope: Scope): Asking<number> {
  const [newest] = yield* know({ ask: 'notices', scope, after: 0, limit: 1, newest: true })
  return newest?.place ?? 0
}

/**
 * The actor has looked at a process that has ended, in this turn: it need not be told so in the same turn again. The inbox's
 * row is written, too, so that of two looks at once the second one sees what the first one did.
 */
export async function observe(edges: Edges, actor: Actor, pid: Pid, turn: string): Promise<void> {
  const found = await completionFor(edges, actor, pid)
  if (found === null || wasSeenIn(turn, found.notice)) return
  const { scope } = found
  await edges.store.write(function* () {
    const was = yield* know({ ask: 'inbox', scope })
    const notice = yield* noticeAt(scope, found.notice.place)
    if (notice === undefined || wasSeenIn(turn, notice)) return unchanged(undefined)
    return {
      answer: undefined,
      changes: [
        { type: 'inbox', was, inbox: was ?? emptyInbox(scope) },
        { type: 'notice_observed', scope, place: notice.place, turns: withMark(notice.observed, turn) },
      ],
    }
  })
}

/**
 * The actor has taken the outcome, or the output to its end, and need not be told. With a `reader`, other readers that were
 * connected when the process ended are still told.
 */
export async function consume(edges: Edges, actor: Actor, pid: Pid, reader?: Reader): Promise<void> {
  const found = await completionFor(edges, actor, pid)
  if (found === null || !isToConsume(found.notice, reader)) return
  const { scope } = found
  await edges.store.write(function* () {
    const was = yield* know({ ask: 'inbox', scope })
    const notice = yield* noticeAt(scope, found.notice.place)
    if (notice === undefined || !isToConsume(notice, reader)) return unchanged(undefined)
    const { place, observed } = notice
    const { inbox } = settle(was ?? emptyInbox(scope), [place], null, edges.clock.now())
    const changes: Change[] = [
      { type: 'inbox', was, inbox },
      { type: 'notices_done', scope, places: [place], how: 'consumed' },
    ]
    if (reader !== undefined)
      changes.push({ type: 'notice_observed', scope, place, turns: withMark(observed, readerMark(reader)) })
    return { answer: undefined, changes }
  })
}

function isToConsume(notice: StoredNotice, reader: Reader | undefined): boolean {
  if (reader === undefined) return notice.done === null
  return !isDoneForAll(notice) && !notice.observed.includes(readerMark(reader))
}

const MAX_NOTICES_OF_PROCESS = 100

/** The completion that the actor is told of, unless it is done for all. Looks of others change nothing. */
async function completionFor(
  edges: Edges,
  actor: Actor,
  pid: Pid,
): Promise<{ readonly scope: Scope; readonly notice: StoredNotice } | null> {
  if (actor === 'host' || actor.startsWith('kernel:')) return null
  const scope = actor as Extract<Actor, Scope>
  const limit = MAX_NOTICES_OF_PROCESS
  const found = await edges.store.ask({ ask: 'notices', scope, pid, newest: true, after: 0, limit })
  const notice = found.find((one) => one.kind === 'completion' && !isDoneForAll(one))
  return notice === undefined ? null : { scope, notice }
}

function* noticeAt(scope: Scope, place: number): Asking<StoredNotice | undefined> {
  const [notice] = yield* know({ ask: 'notices', scope, after: place - 1, limit: 1, places: [place] })
  return notice
}

/** Says what is held back for a scope, if its time has come. Answers with how long there still is something. */
export function release(edges: Edges, scope: Scope): Promise<number | null> {
  return edges.store.write(function* () {
    const rows = new WorkingRows()
    const { inbox, changes } = yield* releaseDue(rows, scope, edges.clock.now())
    return { answer: inbox?.overflow.tripped?.until ?? null, changes }
  })
}

/** Who may read an inbox, and who may take from it. */
export function refuseInbox(
  edges: Edges,
  actor: Actor,
  scope: string,
  right: 'read' | 'write',
): Refusal | undefined {
  if (scope === actor) return undefined
  return scope.startsWith('session:')
    ? edges.authorize(actor, right, { type: 'session', id: scope.slice('session:'.length) })
    : edges.authorize(actor, right, { type: 'store' })
}

/**
 * Asks again and again until there is something, the time is over, or the caller is called off. It subscribes before it asks,
 * so that nothing falls between. Every notice comes with an event, so the feed tells when to ask; `nextAt` is for what comes
 * back by itself.
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
    if (events.some(isTelling)) nudge()
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

/** Of Reeve's own events, those that somebody may be told of. */
const TELLING: ReadonlySet<string> = new Set<ReservedEvent['type']>([
  ...(['ended', 'watch_matched', 'watch_disabled', 'ready', 'ready_timed_out', 'heartbeat'] as const),
  ...(['limit_near'] as const),
])

function isTelling({ type, payload }: StoredEvent): boolean {
  if (type === 'wait_entered') return Object(payload).on === 'approval'
  return !isReserved(type) || TELLING.has(type)
}

function wasSeenIn(turn: string | undefined, { observed }: StoredNotice): boolean {
  return turn !== undefined && observed.includes(turn)
}
