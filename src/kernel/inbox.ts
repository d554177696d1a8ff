import type { Change } from '../core/change.ts'
import { cursorOf, emptyInbox, type Inbox, moveCursor, settle, take } from '../core/inbox/inbox.ts'
import { isReserved, type ReservedEvent, type StoredEvent } from '../core/process/event.ts'
import type { Pid } from '../core/process/pid.ts'
import type { Actor, Scope } from '../core/process/record.ts'
import type { Refusal } from '../core/refusal.ts'
import { know, type Question, type StoredNotice, unchanged } from '../store/contract.ts'
import type { Edges } from './edges.ts'
import type { Feed } from './feed.ts'
import { releaseDue } from './overflow.ts'
import { WorkingRows } from './working-rows.ts'

/** One of several that read the same inbox as the same consumer: a connection of a client. */
export interface Reader {
  readonly id: string
  /** When it came. */
  readonly since: number
}

export interface Reading {
  readonly scope: Scope
  /** Whose cursor is read from, where no place is given; what it acknowledged is not shown again. */
  readonly consumer?: string
  readonly after?: number
  readonly limit: number
  /** What was looked at in this turn is left out. */
  readonly turn?: string
  /** Has a cursor of its own, and is not shown what it has taken the outcome of. */
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
  const through = consumer === undefined ? 0 : await startOf(edges, inbox, scope, { consumer, reader })
  let next = Math.max(reading.after ?? 0, through)
  for (;;) {
    const found = await edges.store.ask({ ask: 'notices', scope, after: next, limit, newest, open: !all })
    const notices = found.filter((notice) => isNews(notice, turn, reader))
    next = found.at(-1)?.place ?? next
    const more = !newest && found.length === limit
    // A page of nothing but what was looked at is no end: whoever waits would wait for what lies behind it.
    if (notices.length > 0 || !more) return { notices, next, more, nextAt }
  }
}

/** How many of the newest notices are looked through for those that came after a reader. */
const MAX_SINCE = 1_000

/**
 * Where a reader goes on: behind what it acknowledged, or, before it has acknowledged anything, where all readers of the
 * consumer are together. What was told since it came it is shown in any case.
 */
async function startOf(
  edges: Edges,
  inbox: Inbox | null,
  scope: Scope,
  { consumer, reader }: { readonly consumer: string; readonly reader: Reader | undefined },
): Promise<number> {
  const shared = cursorOf(inbox, consumer)
  if (reader === undefined) return shared
  const own = cursorOf(inbox, cursorName(consumer, reader))
  if (own > 0) return own
  const newest = await edges.store.ask({
    ...({ ask: 'notices', scope, after: 0, limit: MAX_SINCE } as const),
    ...{ newest: true, open: true },
  })
  const first = newest.find(({ at }) => at >= reader.since)
  return first === undefined ? shared : Math.min(shared, first.place - 1)
}

function cursorName(consumer: string, { id }: Reader): string {
  return `${consumer}\n${id}`
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
    news.push(...open.filter((notice) => isNews(notice, asked.turn)))
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
    const cursors = reader === undefined ? [consumer] : [consumer, cursorName(consumer, reader)]
    const inbox =
      newest === 0
        ? settled.inbox
        : cursors.reduce(
            (moved, name) => moveCursor(moved, name, Math.min(through ?? 0, newest), at),
            settled.inbox,
          )
    const reached = cursorOf(inbox, cursors.at(-1) ?? consumer)
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

const ABOUT_ONE = 100
const MOST_TURNS = 16

/**
 * The actor has looked at a process that has ended, in this turn: it need not be told so in the same turn again. The inbox's
 * row is written, too: of two who look at once, in turns of their own, the second sees what the first one did.
 */
export async function observe(edges: Edges, actor: Actor, pid: Pid, turn: string): Promise<void> {
  const asked = completionOf(actor, pid)
  if (asked === null || !isUnseen(told(await edges.store.ask(asked)), turn)) return
  const { scope } = asked
  await edges.store.write(function* () {
    const was = yield* know({ ask: 'inbox', scope })
    const notice = told(yield* know(asked))
    if (!isUnseen(notice, turn)) return unchanged(undefined)
    const isReaders = (mark: string) => mark.startsWith(READER)
    const marks = [...notice.observed, turn]
    const turns = [
      ...marks.filter(isReaders).slice(-MOST_TURNS),
      ...marks.filter((mark) => !isReaders(mark)).slice(-MOST_TURNS),
    ]
    return {
      answer: undefined,
      changes: [
        { type: 'inbox', was, inbox: was ?? emptyInbox(scope) },
        { type: 'notice_observed', scope, place: notice.place, turns },
      ],
    }
  })
}

function isUnseen(notice: StoredNotice | undefined, turn: string): notice is StoredNotice {
  return notice !== undefined && !notice.observed.includes(turn)
}

/** How it is noted with a notice that a reader has taken the outcome. */
const READER = 'reader:'

/**
 * The actor has taken the outcome, or the output to its end: nobody of its scope need be told any more. Where the scope has
 * several readers, the others are still told.
 */
export async function consume(edges: Edges, actor: Actor, pid: Pid, reader?: Reader): Promise<void> {
  if (reader !== undefined) return observe(edges, actor, pid, `${READER}${reader.id}`)
  const asked = completionOf(actor, pid)
  const notice = asked === null ? undefined : told(await edges.store.ask(asked))
  if (asked === null || notice === undefined) return
  const { scope } = asked
  const { place } = notice
  await edges.store.write(function* () {
    const was = yield* know({ ask: 'inbox', scope })
    const { inbox } = settle(was ?? emptyInbox(scope), [place], null, edges.clock.now())
    return {
      answer: undefined,
      changes: [
        { type: 'inbox', was, inbox },
        { type: 'notices_done', scope, places: [place], how: 'consumed' },
      ],
    }
  })
}

/** How the completion that somebody is told is asked for. What others look at changes nothing for whoever is told. */
function completionOf(actor: Actor, pid: Pid) {
  if (actor === 'host' || actor.startsWith('kernel:')) return null
  const scope = actor as Extract<Actor, Scope>
  return {
    ...({ ask: 'notices', after: 0, limit: ABOUT_ONE, open: true, newest: true } as const),
    ...{ scope, pid },
  }
}

function told(found: readonly StoredNotice[]): StoredNotice | undefined {
  return found.find(({ kind }) => kind === 'completion')
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
export async function untilTold<
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

function isNews({ observed }: StoredNotice, turn: string | undefined, reader?: Reader): boolean {
  const marks = [turn, reader === undefined ? undefined : `${READER}${reader.id}`]
  return !marks.some((mark) => mark !== undefined && observed.includes(mark))
}
