import { describe, expect, test } from 'vitest'
import {
  cursorOf,
  emptyInbox,
  type Inbox,
  moveCursor,
  moveReaderCursor,
  readerCursorOf,
} from '../../../src/core/inbox/inbox.ts'
import {
  isNews,
  joinPages,
  type NoticeState,
  outputStart,
  positionIn,
  type Reader,
  readerMark,
  sessionOutputPosition,
  withMark,
} from '../../../src/core/inbox/readers.ts'

const EARLY: Reader = { id: 'early', since: 100 }
const OTHER: Reader = { id: 'other', since: 100 }
const LATE: Reader = { id: 'late', since: 300 }
const TOLD: NoticeState = { position: 5, at: 200, done: null, observed: [] }
const BY_OTHER: NoticeState = { ...TOLD, done: 'consumed', observed: [readerMark(OTHER)] }

function isNewsFor(notice: NoticeState, reader: Reader | null, { own = 0, shared = 0 } = {}): boolean {
  return isNews(notice, { reader, own: reader === null ? shared : own, shared })
}

describe('a notice is news', () => {
  test('for every reader, and for a consumer without readers, until it is consumed or acknowledged', () => {
    for (const reader of [EARLY, LATE, null]) expect(isNewsFor(TOLD, reader)).toBe(true)
  })

  test('when another reader consumed it: only for readers that were connected when it was told', () => {
    expect(isNewsFor(BY_OTHER, EARLY)).toBe(true)
    expect(isNewsFor(BY_OTHER, LATE)).toBe(false)
    expect(isNewsFor(BY_OTHER, null)).toBe(false)
    expect(isNewsFor(BY_OTHER, OTHER)).toBe(false)
  })

  test('when another reader acknowledged it: only for readers that were connected when it was told', () => {
    expect(isNewsFor(TOLD, EARLY, { shared: 5 })).toBe(true)
    expect(isNewsFor(TOLD, LATE, { shared: 5 })).toBe(false)
    expect(isNewsFor(TOLD, null, { shared: 5 })).toBe(false)
    expect(isNewsFor(TOLD, EARLY, { own: 5, shared: 5 })).toBe(false)
  })

  test('for a reader that connected in the millisecond in which it was told', () => {
    expect(isNewsFor(BY_OTHER, { id: 'same', since: BY_OTHER.at })).toBe(true)
  })

  test('for no reader, if it is done for all', () => {
    for (const done of ['acknowledged', 'consumed'] as const)
      for (const reader of [EARLY, LATE, null]) expect(isNewsFor({ ...TOLD, done }, reader)).toBe(false)
    expect(isNewsFor({ ...BY_OTHER, done: 'acknowledged' }, EARLY)).toBe(false)
  })

  test('under the same rule where an older version noted a reader and left the notice open', () => {
    const older = { ...BY_OTHER, done: null }
    const readers = [EARLY, LATE, OTHER, null]
    expect(readers.map((reader) => isNewsFor(older, reader))).toEqual([true, false, false, false])
  })
})

describe('cursors of readers', () => {
  const moved = (inbox: Inbox, reader: string, through: number, at: number) =>
    moveReaderCursor(moveCursor(inbox, 'mcp', through, at), { consumer: 'mcp', reader }, through, at)

  test('push out no consumer, and are at most 32', () => {
    let inbox = moveCursor(emptyInbox('session:s'), 'dashboard', 7, 1)
    for (let at = 2; at < 300; at++) inbox = moved(inbox, `r${at}`, at, at)
    expect(cursorOf(inbox, 'dashboard')).toBe(7)
    expect(Object.keys(inbox.readers ?? {})).toHaveLength(32)
    expect(readerCursorOf(inbox, 'mcp', 'r299')).toBe(299)
    expect(readerCursorOf(inbox, 'mcp', 'r2')).toBe(0)
    expect(JSON.stringify(inbox).length).toBeLessThan(3_000)
  })

  test('never go back', () => {
    const inbox = moved(moved(emptyInbox('session:s'), 'a', 9, 1), 'a', 4, 2)
    expect(positionIn(inbox, { consumer: 'mcp', reader: { id: 'a', since: 0 } })).toMatchObject({
      own: 9,
      shared: 9,
    })
  })

  test('are read from an inbox of an older version, and leave the map of consumers when one moves', () => {
    const older: Inbox = {
      ...emptyInbox('session:s'),
      consumers: {
        mcp: { through: 8, at: 1 },
        'mcp\na': { through: 8, at: 1 },
        'mcp\nb': { through: 3, at: 1 },
      },
    }
    expect(readerCursorOf(older, 'mcp', 'a')).toBe(8)
    const next = moved(older, 'b', 9, 2)
    expect(Object.keys(next.consumers)).toEqual(['mcp'])
    expect(['a', 'b', 'constructor'].map((id) => readerCursorOf(next, 'mcp', id))).toEqual([8, 9, 0])
  })

  test('are not used without a consumer', () => {
    const inbox = moved(emptyInbox('session:s'), 'early', 9, 1)
    expect(positionIn(inbox, { reader: EARLY })).toEqual({ reader: EARLY, own: 0, shared: 0 })
    expect(positionIn(inbox, {})).toEqual({ reader: null, own: 0, shared: 0 })
    expect(positionIn(inbox, { consumer: 'mcp' })).toEqual({ reader: null, own: 9, shared: 9 })
  })
})

test('a notice keeps its newest 16 turns and its newest 16 readers', () => {
  let marks: readonly string[] = [readerMark(EARLY)]
  for (let turn = 0; turn < 40; turn++) marks = withMark(marks, `t${turn}`)
  expect(marks).toHaveLength(17)
  expect(marks).toContain(readerMark(EARLY))
  expect(marks).toContain('t39')
  expect(withMark(marks, 't39')).toHaveLength(17)
})

describe('pages of one list that were filtered differently', () => {
  const page = (...positions: number[]) => positions.map((position) => ({ position }))

  test('join in order, without duplicates', () => {
    expect(joinPages([page(1, 4), page(2, 4, 5)], 9, false)).toEqual({
      items: page(1, 2, 4, 5),
      isFull: false,
    })
  })

  test('end where the first full page ends, and have no more items than the limit', () => {
    expect(joinPages([page(1, 2), page(9)], 2, false)).toEqual({ items: page(1, 2), isFull: true })
    expect(joinPages([page(1, 8), page(2, 3)], 2, false)).toEqual({ items: page(1, 2), isFull: true })
  })

  test('begin, read from the newest, where the last full page begins', () => {
    expect(joinPages([page(8, 9), page(1)], 2, true).items).toEqual(page(8, 9))
    expect(joinPages([page(3, 9), page(6, 7)], 2, true).items).toEqual(page(7, 9))
  })

  test('lose and repeat nothing when they are read one after another', () => {
    const all = Array.from({ length: 50 }, (_, index) => index + 1)
    const lists = [all.filter((position) => position % 3 === 0), all.filter((position) => position % 2 === 0)]
    const read: number[] = []
    for (;;) {
      const after = read.at(-1) ?? 0
      const pages = lists.map((list) => page(...list.filter((position) => position > after).slice(0, 4)))
      const { items, isFull } = joinPages(pages, 4, false)
      read.push(...items.map(({ position }) => position))
      if (!isFull) break
    }
    expect(read).toEqual(all.filter((position) => position % 3 === 0 || position % 2 === 0))
  })
})

describe('a reader begins in the output of a process', () => {
  test('where it stopped', () => {
    expect(outputStart({ own: 3, session: 9, reader: LATE, createdAt: 400 })).toBe(3)
  })

  test('at the beginning, if the process was created since it connected', () => {
    expect(outputStart({ own: null, session: 9, reader: LATE, createdAt: 300 })).toBe(0)
  })

  test('where its session is, in an older process', () => {
    expect(outputStart({ own: null, session: 9, reader: LATE, createdAt: 299 })).toBe(9)
    expect(outputStart({ own: null, session: null, reader: LATE, createdAt: 299 })).toBe(0)
  })

  test('where its session is, if the session has no readers', () => {
    expect(outputStart({ own: null, session: 9, reader: null, createdAt: 400 })).toBe(9)
  })
})

test('the position of a session is that of its foremost reader', () => {
  expect(sessionOutputPosition(9, 5, EARLY)).toBe(9)
  expect(sessionOutputPosition(9, 12, EARLY)).toBe(12)
  expect(sessionOutputPosition(null, 5, EARLY)).toBe(5)
  expect(sessionOutputPosition(9, 5, null)).toBe(5)
})
