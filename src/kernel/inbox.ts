import type { Change } from '../core/change.ts'
import { cursorOf, emptyInbox, moveCursor, settle, take } from '../core/inbox/inbox.ts'
import { isReserved, type ReservedEvent, type StoredEvent } from '../core/process/event.ts'
import type { Pid } from '../core/process/pid.ts'
import type { Actor, Scope } from '../core/process/record.ts'
import type { Refusal } from '../core/refusal.ts'
import { know, type StoredNotice } from '../store/contract.ts'
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
  /** The last of them instead of the first. */
  readonly newest?: boolean
  /** With those that are done, too. */
  readonly all?: boolean
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

/** Reads without taking: any number of consumers may. */
export async function readNotices(edges: Edges, reading: Reading): Promise<ReadNotices> {
  const { scope, consumer, limit, turn, newest = false, all = false } = reading
  const inbox = await edges.store.ask({ ask: 'inbox', scope })
  const nextAt = inbox === null || inbox.overflow.tripped === null ? null : await release(edges, scope)
  const through = consumer === undefined ? 0 : cursorOf(inbox, consumer)
  const after = Math.max(reading.after ?? 0, through)
  const found = await edges.store.ask({ ask: 'notices', scope, after, limit, newest, open: !all })
  return {
    notices: found.filter((notice) => isNews(notice, turn)),
    next: found.at(-1)?.place ?? after,
    more: !newest && found.length === limit,
    nextAt,
  }
}

/** How many of a page that is left out by a turn's own looks are read beyond, to fill it. */
const BEYOND = 200

/**
 * Gives notices to one consumer alone, for `visibilityMs`. The inbox's row is asked for before the notices: if it changes
 * until this is committed, somebody else has taken or acknowledged some, and it is decided again.
 */
export async function takeNotices(
  edges: Edges,
  asked: Omit<Reading, 'after' | 'newest' | 'all'> & {
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
    const out = inbox.taken.length
    const open = yield* know({
      ...{ ask: 'notices', scope, open: true },
      ...{ after: cursorOf(inbox, consumer), limit: limit + out + BEYOND },
    })
    const news = open.filter((notice) => isNews(notice, turn))
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
}

export function acknowledge(
  edges: Edges,
  { scope, consumer, through, places = [] }: Acknowledging,
): Promise<{
  readonly acknowledged: readonly number[]
  readonly lost: readonly number[]
  readonly through: number
}> {
  return edges.store.write(function* () {
    const at = edges.clock.now()
    const was = yield* know({ ask: 'inbox', scope })
    const settled = settle(was ?? emptyInbox(scope), places, consumer, at)
    const inbox = through === undefined ? settled.inbox : moveCursor(settled.inbox, consumer, through, at)
    const answer = { acknowledged: settled.done, lost: settled.lost, through: cursorOf(inbox, consumer) }
    const changes: Change[] = [{ type: 'inbox', was, inbox }]
    if (settled.done.length > 0)
      changes.push({ type: 'notices_done', scope, places: settled.done, how: 'acknowledged' })
    return { answer, changes }
  })
}

/** Whether somebody is the one who is told: what others look at changes nothing for them. */
function isTold(actor: Actor, scope: string): actor is Extract<Actor, Scope> {
  return actor === scope
}

const ABOUT_ONE = 100
const MOST_TURNS = 16

/** The actor has looked at a process that has ended, in this turn: it need not be told so in the same turn again. */
export async function observe(edges: Edges, actor: Actor, pid: Pid, turn: string): Promise<void> {
  const told = await completionOf(edges, actor, pid)
  if (told === undefined || told.observed.includes(turn)) return
  const turns = [...told.observed, turn].slice(-MOST_TURNS)
  await edges.store.write(function* () {
    yield []
    return {
      answer: undefined,
      changes: [{ type: 'notice_observed', scope: told.scope, place: told.place, turns }],
    }
  })
}

/** The actor has taken the outcome, or the output to its end: nobody of its scope need be told any more. */
export async function consume(edges: Edges, actor: Actor, pid: Pid): Promise<void> {
  const told = await completionOf(edges, actor, pid)
  if (told === undefined) return
  const { scope, place } = told
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

async function completionOf(edges: Edges, actor: Actor, pid: Pid): Promise<StoredNotice | undefined> {
  if (actor === 'host' || actor.startsWith('kernel:')) return undefined
  const found = await edges.store.ask({
    ...{ ask: 'notices', scope: actor, after: 0, limit: ABOUT_ONE },
    ...{ pid, open: true, newest: true },
  })
  return found.find(({ kind, scope }) => kind === 'completion' && isTold(actor, scope))
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
    if (events.some(({ type }) => !isReserved(type) || TELLING.has(type))) nudge()
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
])

function isNews({ observed }: StoredNotice, turn: string | undefined): boolean {
  return turn === undefined || !observed.includes(turn)
}
