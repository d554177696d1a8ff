import type { StoredEvent } from '../../src/core/process/event.ts'
import { evolve } from '../../src/core/process/evolve.ts'
import type { Pid } from '../../src/core/process/pid.ts'
import type { ProcessRow } from '../../src/core/process/row.ts'
import type { Change, Plan, Question, Verdict } from '../../src/store/contract.ts'
import type { ProcessChange } from './ledger.ts'

export type Steps<Answer> = Generator<readonly Question[], Verdict<Answer>, readonly unknown[]>

/** Replaces the changes of a plan. */
export function changing<Answer>(
  plan: Plan<Answer>,
  alter: (changes: readonly Change[], answer: Answer) => readonly Change[],
): Plan<Answer> {
  return function* (): Steps<Answer> {
    const verdict = yield* plan()
    return { ...verdict, changes: alter(verdict.changes, verdict.answer) }
  }
}

/**
 * Gives a plan false facts about the processes it asks for, as a forgotten check would. Only the bug itself may result: any
 * other verdict is decided again on true facts.
 */
export function forging<Answer>(
  plan: Plan<Answer>,
  wanted: (event: Pick<StoredEvent, 'type' | 'replayKey'>) => boolean,
  forge: (row: ProcessRow) => ProcessRow,
): Plan<Answer> {
  return function* (): Steps<Answer> {
    const truth = new Map<Pid, ProcessRow>()
    const verdict = yield* misinformed(plan, (row) => {
      const forged = forge(row)
      if (forged !== row) truth.set(row.record.pid, row)
      return forged
    })
    const came = verdict.changes.some(
      (change) => change.type === 'process' && truth.has(change.row.record.pid) && change.events.some(wanted),
    )
    if (!came) return yield* plan()
    return { ...verdict, changes: verdict.changes.map((change) => onTruth(change, truth)) }
  }
}

/** Like `forging`, with the events folded on the true row: only their choice is wrong. */
export function decidingOn<Answer>(
  plan: Plan<Answer>,
  wanted: (event: Pick<StoredEvent, 'type' | 'replayKey'>) => boolean,
  forge: (row: ProcessRow) => ProcessRow,
): Plan<Answer> {
  return changing(forging(plan, wanted, forge), (changes) =>
    changes.map((change) =>
      change.type === 'process' && change.was !== null ? refolded(change, change.was) : change,
    ),
  )
}

/** The row is the fold of the events of its change. */
export function refolded(change: ProcessChange, was: ProcessRow): ProcessChange {
  const record = change.events.reduce((folded, event) => evolve(folded, event), was.record)
  return { ...change, row: { ...change.row, record } }
}

export function* misinformed<Answer>(
  plan: Plan<Answer>,
  forge: (row: ProcessRow) => ProcessRow,
): Steps<Answer> {
  const steps = plan()
  let known: readonly unknown[] = []
  for (;;) {
    const step = steps.next(known)
    if (step.done) return step.value
    const answers = yield step.value
    known = step.value.map(({ ask }, index) => {
      const answer = answers[index]
      return ask === 'process' && answer !== null ? forge(answer as ProcessRow) : answer
    })
  }
}

/** The forgotten check is the whole bug: the fence itself is not reset. */
function onTruth(change: Change, truth: ReadonlyMap<Pid, ProcessRow>): Change {
  const was = change.type === 'process' ? truth.get(change.row.record.pid) : undefined
  if (change.type !== 'process' || was === undefined) return change
  const row = { ...change.row, fence: Math.max(change.row.fence, was.fence) }
  return { ...change, was, row } satisfies ProcessChange
}
