import type { Change } from '../core/change.ts'
import {
  cursorOf,
  emptyInbox,
  moveCursor,
  moveReaderCursor,
  readerCursorOf,
  settle,
} from '../core/inbox/inbox.ts'
import type { Reader } from '../core/inbox/readers.ts'
import type { Scope } from '../core/process/record.ts'
import { know, unchanged } from '../store/contract.ts'
import type { Edges } from './edges.ts'
import type { PlanPart } from './plan-part.ts'

export interface Acknowledging {
  readonly scope: Scope
  readonly consumer: string
  /** All notices up to here, for this consumer alone. */
  readonly through?: number
  /** These notices, for all consumers. */
  readonly positions?: readonly number[]
  /** The reader whose cursor moves. The consumer's cursor follows its foremost reader. */
  readonly reader?: Reader
}

/**
 * Acknowledges notices. A position without a notice is not acknowledged, and no cursor goes beyond the newest notice, because
 * that would hide later ones.
 */
export function acknowledge(
  edges: Edges,
  { scope, consumer, through, positions = [], reader }: Acknowledging,
): Promise<{
  readonly acknowledged: readonly number[]
  readonly lost: readonly number[]
  readonly through: number
}> {
  return edges.store.write(function* () {
    const at = edges.clock.now()
    const was = yield* know({ ask: 'inbox', scope })
    const there = yield* thereOf(scope, positions)
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
      changes.push({ type: 'notices_done', scope, positions: settled.done, how: 'acknowledged' })
    return { answer, changes }
  })
}

/** Those of the positions that have a notice of this scope, done or not, in the given order. */
function* thereOf(scope: Scope, positions: readonly number[]): PlanPart<readonly number[]> {
  if (positions.length === 0) return []
  const wanted = [...new Set(positions)]
  const found = yield* know({ ask: 'notices', scope, after: 0, limit: wanted.length, positions: wanted })
  const there = new Set(found.map(({ position }) => position))
  return wanted.filter((position) => there.has(position))
}

function* newestIn(scope: Scope): PlanPart<number> {
  const [newest] = yield* know({ ask: 'notices', scope, after: 0, limit: 1, newest: true })
  return newest?.position ?? 0
}
