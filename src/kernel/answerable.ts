import type { Approval } from '../core/approval/approval.ts'
import { refuseAnswerer } from '../core/approval/may-answer.ts'
import type { Actor } from '../core/process/record.ts'
import { answererFacts } from './answerer-facts.ts'
import type { Edges } from './edges.ts'
import { WorkingRows } from './working-rows.ts'

/** The ids of those approvals of a page that an actor may answer, by its right to approve. */
export function answerableBy(
  edges: Edges,
  actor: Actor,
  approvals: readonly Approval[],
): Promise<ReadonlySet<string>> {
  return edges.store.write<ReadonlySet<string>>(function* () {
    const rows = new WorkingRows()
    const at = edges.clock.now()
    const found = new Set<string>()
    for (const approval of approvals) {
      const facts = yield* answererFacts(rows, approval, actor, at)
      if (refuseAnswerer(approval, actor, facts) === undefined) found.add(approval.id)
    }
    return { answer: found, changes: [] }
  })
}
