import type { Scope } from '../process/record.ts'
import { NO_OVERFLOW, type Overflow } from './flood.ts'

/**
 * The state of a scope's inbox besides its notices: who has read how far, who has taken what, and whether it is being
 * flooded. Every take, acknowledgement and consumption writes it, so that of two concurrent ones the later sees the earlier.
 *
 * | a notice is              | read with a cursor | take                      | acknowledge                |
 * | open                     | shown              | given, taken until a time | done, or the cursor moves on |
 * | taken by another, in time | shown              | not given                 | lost: nothing changes        |
 * | taken, and the time is up | shown              | given again               | done                         |
 * | done                     | not shown          | not given                 | done already                 |
 */
export interface Inbox {
  readonly scope: Scope
  readonly consumers: Cursors
  /** Cursors of readers, by consumer and reader. Inboxes written before readers had their own map have them in `consumers`. */
  readonly readers?: Cursors
  readonly taken: readonly Taken[]
  readonly overflow: Overflow
}

interface Cursors {
  readonly [name: string]: { readonly through: number; readonly at: number }
}

interface Taken {
  readonly position: number
  readonly by: string
  readonly until: number
}

/** How many notices of one inbox may be taken at once; a consumer that takes more gets none. */
const MAX_TAKEN = 1_000
/** How many consumers' cursors are kept. */
const MAX_CONSUMERS = 100
/** How many readers' cursors are kept, of all consumers together. */
const MAX_READERS = 32

export function emptyInbox(scope: Scope): Inbox {
  return { scope, consumers: {}, taken: [], overflow: NO_OVERFLOW }
}

/** Everything up to here is acknowledged by the consumer. */
export function cursorOf(inbox: Inbox | null, consumer: string): number {
  return throughIn(inbox?.consumers, consumer)
}

/** Everything up to here is acknowledged by one reader of a consumer. */
export function readerCursorOf(inbox: Inbox | null, consumer: string, reader: string): number {
  const name = readerName(consumer, reader)
  return Math.max(throughIn(inbox?.readers, name), throughIn(inbox?.consumers, name))
}

/** Everything up to here is acknowledged by some consumer. */
export function acknowledgedThrough(inbox: Inbox | null): number {
  return Math.max(0, ...Object.values(inbox?.consumers ?? {}).map(({ through }) => through))
}

function throughIn(cursors: Cursors = {}, name: string): number {
  return Object.hasOwn(cursors, name) ? (cursors[name]?.through ?? 0) : 0
}

/** No consumer's name contains a line break. */
const READER_SEPARATOR = '\n'

function readerName(consumer: string, reader: string): string {
  return `${consumer}${READER_SEPARATOR}${reader}`
}

/** Gives open notices (`positions`, in order) that no consumer has taken to one consumer alone. */
export function take(
  inbox: Inbox,
  positions: readonly number[],
  asked: {
    readonly consumer: string
    readonly at: number
    readonly visibilityMs: number
    readonly limit: number
  },
): { readonly inbox: Inbox; readonly given: readonly number[]; readonly until: number } {
  const { consumer, at, visibilityMs, limit } = asked
  const out = inbox.taken.filter(({ until }) => until > at)
  const isOut = new Set(out.map(({ position }) => position))
  const room = Math.min(limit, MAX_TAKEN - out.length)
  const given = positions.filter((position) => !isOut.has(position)).slice(0, Math.max(0, room))
  const until = at + visibilityMs
  const taken = [...out, ...given.map((position) => ({ position, by: consumer, until }))]
  return { inbox: { ...inbox, taken }, given, until }
}

/** No consumer's name contains a line break. */
const RECEIVER = '\n'

/**
 * The process itself takes a message with a wait, which comes before every other consumer of its inbox: one that has taken the
 * message meanwhile loses it.
 */
export function receive(inbox: Inbox, position: number): Inbox {
  const taken = inbox.taken.map((one) => (one.position === position ? { ...one, by: RECEIVER } : one))
  return { ...inbox, taken }
}

/** Those of `positions` that this consumer may acknowledge: all but those that another consumer has taken and still has time for. */
export function settle(
  inbox: Inbox,
  positions: readonly number[],
  consumer: string | null,
  at: number,
): { readonly inbox: Inbox; readonly done: readonly number[]; readonly lost: readonly number[] } {
  const others = new Set(
    inbox.taken
      .filter(({ by, until }) => consumer !== null && by !== consumer && until > at)
      .map(({ position }) => position),
  )
  const done = positions.filter((position) => !others.has(position))
  const isDone = new Set(done)
  const taken = inbox.taken.filter(({ position }) => !isDone.has(position))
  return { inbox: { ...inbox, taken }, done, lost: positions.filter((position) => others.has(position)) }
}

/** A cursor never goes back. */
export function moveCursor(inbox: Inbox, consumer: string, through: number, at: number): Inbox {
  const moved = { through: Math.max(through, cursorOf(inbox, consumer)), at }
  return { ...inbox, consumers: newestOf({ ...inbox.consumers, [consumer]: moved }, MAX_CONSUMERS) }
}

/** Moves the cursor of one reader. Older inboxes have readers' cursors among those of consumers: they move to their own map. */
export function moveReaderCursor(
  inbox: Inbox,
  { consumer, reader }: { readonly consumer: string; readonly reader: string },
  through: number,
  at: number,
): Inbox {
  const moved = { through: Math.max(through, readerCursorOf(inbox, consumer, reader)), at }
  const isReader = ([name]: readonly [string, unknown]) => name.includes(READER_SEPARATOR)
  const all = Object.entries(inbox.consumers)
  const readers = {
    ...Object.fromEntries(all.filter(isReader)),
    ...inbox.readers,
    [readerName(consumer, reader)]: moved,
  }
  const consumers = Object.fromEntries(all.filter((entry) => !isReader(entry)))
  return { ...inbox, consumers, readers: newestOf(readers, MAX_READERS) }
}

/** The cursor that was moved longest ago is evicted first. */
function newestOf(cursors: Cursors, limit: number): Cursors {
  const newestFirst = Object.entries(cursors).sort(([, a], [, b]) => b.at - a.at)
  return Object.fromEntries(newestFirst.slice(0, limit))
}
