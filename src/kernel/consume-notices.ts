import type { Change } from '../core/change.ts'
import { emptyInbox, settle } from '../core/inbox/inbox.ts'
import { isDoneForAll, type Reader, readerMark, wasSeenIn, withMark } from '../core/inbox/readers.ts'
import type { Pid } from '../core/process/pid.ts'
import type { Actor, Scope } from '../core/process/record.ts'
import { know, type StoredNotice, unchanged } from '../store/contract.ts'
import type { Edges } from './edges.ts'
import type { PlanPart } from './plan-part.ts'

/**
 * Records that the actor has read an ended process in this turn, so that the turn gets no notice of it. The inbox's row
 * is written, too, so that the second of two concurrent looks sees the first.
 */
export async function observe(edges: Edges, actor: Actor, pid: Pid, turn: string): Promise<void> {
  const found = await completionFor(edges, actor, pid)
  if (found === null || wasSeenIn(turn, found.notice)) return
  const { scope } = found
  await edges.store.write(function* () {
    const was = yield* know({ ask: 'inbox', scope })
    const notice = yield* noticeAt(scope, found.notice.position)
    if (notice === undefined || wasSeenIn(turn, notice)) return unchanged(undefined)
    return {
      answer: undefined,
      changes: [
        { type: 'inbox', was, inbox: was ?? emptyInbox(scope) },
        { type: 'notice_observed', scope, position: notice.position, turns: withMark(notice.observed, turn) },
      ],
    }
  })
}

/**
 * Records that the actor has the outcome, or the output to its end, and needs no notice. With a `reader`, other readers that
 * were connected when the process ended still get theirs.
 */
export async function consume(edges: Edges, actor: Actor, pid: Pid, reader?: Reader): Promise<void> {
  const found = await completionFor(edges, actor, pid)
  if (found === null || !isToConsume(found.notice, reader)) return
  const { scope } = found
  await edges.store.write(function* () {
    const was = yield* know({ ask: 'inbox', scope })
    const notice = yield* noticeAt(scope, found.notice.position)
    if (notice === undefined || !isToConsume(notice, reader)) return unchanged(undefined)
    const { position, observed } = notice
    const { inbox } = settle(was ?? emptyInbox(scope), [position], null, edges.clock.now())
    const changes: Change[] = [
      { type: 'inbox', was, inbox },
      { type: 'notices_done', scope, positions: [position], how: 'consumed' },
    ]
    if (reader !== undefined)
      changes.push({
        type: 'notice_observed',
        scope,
        position,
        turns: withMark(observed, readerMark(reader)),
      })
    return { answer: undefined, changes }
  })
}

function isToConsume(notice: StoredNotice, reader: Reader | undefined): boolean {
  if (reader === undefined) return notice.done === null
  return !isDoneForAll(notice) && !notice.observed.includes(readerMark(reader))
}

const MAX_NOTICES_OF_PROCESS = 100

/** The completion notice of this actor, unless it is done for all. */
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

function* noticeAt(scope: Scope, position: number): PlanPart<StoredNotice | undefined> {
  const [notice] = yield* know({
    ask: 'notices',
    scope,
    after: position - 1,
    limit: 1,
    positions: [position],
  })
  return notice
}
