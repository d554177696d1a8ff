import { type DelegatedPaths, withoutLien } from '../core/lien/lien.ts'
import type { LendingFacts } from '../core/lien/refuse-lending.ts'
import type { Pid } from '../core/process/pid.ts'
import type { ProcessRecord } from '../core/process/record.ts'
import type { ProcessRow } from '../core/process/row.ts'
import type { PlanPart } from './plan-part.ts'
import type { WorkingRows } from './working-rows.ts'

/** The facts about a registration of an agent that gets paths. Each of them changes the row of the host, so no overlap is overlooked. */
export function* lendingFacts(
  rows: WorkingRows,
  { host }: DelegatedPaths,
  parent: ProcessRow | null,
  ending: ReadonlySet<Pid | undefined>,
): PlanPart<LendingFacts> {
  const above: ProcessRecord[] = []
  for (let row = parent; row !== null; ) {
    const { record }: ProcessRow = row
    above.push(record)
    row = record.parent === null ? null : yield* rows.process(record.parent)
  }
  return { row: yield* rows.liens(host), above, ending }
}

/** In the transaction of the end: its paths belong to those above it again, and to no others in between. */
export function* giveBackPaths(rows: WorkingRows, host: string, holder: Pid): PlanPart<void> {
  const was = yield* rows.liens(host)
  const liens = was === null ? null : withoutLien(was, holder)
  if (liens !== null) rows.add([{ type: 'liens', was, liens }])
}
