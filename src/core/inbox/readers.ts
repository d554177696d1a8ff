import type { DoneHow } from '../change.ts'
import { cursorOf, type Inbox, readerCursorOf } from './inbox.ts'

/** One of several readers of the same session, such as a connection of an MCP client. */
export interface Reader {
  readonly id: string
  /** When it connected, by the clock of the kernel that answers it. */
  readonly since: number
}

/** The facts that decide whether a stored notice is news. */
export interface NoticeState {
  readonly position: number
  readonly at: number
  readonly done: DoneHow | null
  /** Turns that saw it, and readers that consumed it. */
  readonly observed: readonly string[]
}

/** How far an inbox has been acknowledged, seen from one consumer and, if it has several, one of its readers. */
export interface InboxPosition {
  readonly reader: Reader | null
  /** Acknowledged by this reader. */
  readonly own: number
  /** Acknowledged by the consumer, through any of its readers. */
  readonly shared: number
}

export function positionIn(
  inbox: Inbox | null,
  { consumer, reader }: { readonly consumer?: string; readonly reader?: Reader },
): InboxPosition {
  const shared = consumer === undefined ? 0 : cursorOf(inbox, consumer)
  if (reader === undefined) return { reader: null, own: shared, shared }
  return { reader, own: consumer === undefined ? 0 : readerCursorOf(inbox, consumer, reader.id), shared }
}

/**
 * A notice that one reader of a session has consumed (waited for, read to its end, acknowledged) is not news for readers that
 * connect later. It is still news for readers that were connected when it was written.
 *
 * | the notice was                         | reader connected before it | reader connected later | no reader |
 * | told, and nothing else                 | news                       | news                   | news      |
 * | consumed by this reader                | –                          | –                      |           |
 * | consumed by another reader             | news                       | –                      | –         |
 * | done for all: acknowledged by position, or consumed without a reader | – | –                  | –         |
 */
export function isNews(notice: NoticeState, { reader, own, shared }: InboxPosition): boolean {
  if (isDoneForAll(notice) || notice.position <= own) return false
  if (reader !== null && notice.observed.includes(readerMark(reader))) return false
  if (reader !== null && notice.at >= reader.since) return true
  return notice.position > shared && !isConsumedByReader(notice)
}

/** Whether this turn has seen the notice; false without a turn. */
export function wasSeenIn(turn: string | undefined, { observed }: Pick<NoticeState, 'observed'>): boolean {
  return turn !== undefined && observed.includes(turn)
}

/** A notice that a reader consumed is done as well, but may still be news for other readers. */
export function isDoneForAll(notice: NoticeState): boolean {
  return notice.done !== null && !(notice.done === 'consumed' && isConsumedByReader(notice))
}

function isConsumedByReader({ observed }: NoticeState): boolean {
  return observed.some(isReaderMark)
}

const READER_PREFIX = 'reader:'

/** The mark of a reader that has consumed a notice. */
export function readerMark({ id }: Reader): string {
  return `${READER_PREFIX}${id}`
}

function isReaderMark(mark: string): boolean {
  return mark.startsWith(READER_PREFIX)
}

/** How many turns, and how many readers, are kept with one notice. */
const MAX_MARKS = 16

/** The newest marks are kept, of turns and of readers each, so that many turns do not push out a reader. */
export function withMark(observed: readonly string[], mark: string): readonly string[] {
  const marks = [...observed.filter((other) => other !== mark), mark]
  return [
    ...marks.filter(isReaderMark).slice(-MAX_MARKS),
    ...marks.filter((other) => !isReaderMark(other)).slice(-MAX_MARKS),
  ]
}

/**
 * Joins pages of one list that were filtered differently, each in order and of at most `limit` items. A full page means that
 * its list goes on: items of the other page beyond it belong to a later page.
 */
export function joinPages<Item extends { readonly position: number }>(
  pages: readonly (readonly Item[])[],
  limit: number,
  newest: boolean,
): { readonly items: readonly Item[]; readonly isFull: boolean } {
  const full = pages.filter(({ length }) => length >= limit)
  const edges = full.flatMap((page) => page.at(newest ? 0 : -1)?.position ?? [])
  const isWithin = ({ position }: Item) =>
    edges.every((edge) => (newest ? position >= edge : position <= edge))
  const byPosition = new Map(
    pages
      .flat()
      .filter(isWithin)
      .map((item) => [item.position, item]),
  )
  const items = [...byPosition.values()].sort((a, b) => a.position - b.position)
  return {
    items: newest ? items.slice(-limit) : items.slice(0, limit),
    isFull: full.length > 0 || items.length > limit,
  }
}

/**
 * Where a reader begins in the output of a process: where it stopped. The first time: at the beginning of a process that was
 * created since it connected, and at the session's position in an older one.
 */
export function outputStart({
  own,
  session,
  reader,
  createdAt,
}: {
  /** How far this reader has read, and the session through any of its readers; null if never. */
  readonly own: number | null
  readonly session: number | null
  readonly reader: Reader | null
  readonly createdAt: number
}): number {
  if (reader === null) return session ?? 0
  if (own !== null) return own
  return createdAt >= reader.since ? 0 : (session ?? 0)
}

/** The session's position is that of its foremost reader. Without readers it is where the read ended. */
export function sessionOutputPosition(
  session: number | null,
  reached: number,
  reader: Reader | null,
): number {
  return reader === null ? reached : Math.max(session ?? 0, reached)
}
