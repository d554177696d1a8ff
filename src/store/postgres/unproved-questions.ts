import type { Change, Question } from '../contract.ts'
import { changedRows, changedSubjects } from './changed-rows.ts'
import { eventKey, type Facts, keyOf, processKey } from './facts.ts'

/**
 * The questions to load before a plan's changes can be applied: the rows that they change, and assumed answers. `optimistic`: a row
 * or key that this store does not know, and that a plan writes, is taken for new; the commit fails if not.
 */
export function unprovedQuestions(
  changes: readonly Change[],
  assumed: ReadonlyMap<string, Question>,
  { facts, optimistic }: { readonly facts: Facts; readonly optimistic: boolean },
): Question[] {
  const open = new Map(assumed)
  for (const row of changes.flatMap(changedRows)) {
    if (facts.get(keyOf(row)) === undefined) open.set(keyOf(row), row)
  }
  for (const subject of changes.flatMap(changedSubjects)) {
    const question = { ask: 'ruleSet', subject } as const
    if (facts.ruleSets.get(subject) === undefined) open.set(keyOf(question), question)
  }
  if (optimistic && open.size > 0) {
    for (const change of changes) if (change.type === 'process') removeProved(change, open)
  }
  return [...open.values()]
}

/** The commit proves these assumptions itself: it fails if the process, its tombstone, or an event with the key exists. */
function removeProved(
  { was, row, events }: Extract<Change, { type: 'process' }>,
  open: Map<string, Question>,
) {
  const { pid } = row.record
  if (was === null) {
    open.delete(processKey(pid))
    open.delete(keyOf({ ask: 'tombstone', pid }))
  }
  for (const { replayKey } of events) if (replayKey !== null) open.delete(eventKey(pid, replayKey))
}
