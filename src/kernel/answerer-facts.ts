import type { AskerFacts } from '../core/approval/answer-through-client.ts'
import type { Approval } from '../core/approval/approval.ts'
import type { AnswererFacts } from '../core/approval/may-answer.ts'
import type { AgentClient } from '../core/authority/person.ts'
import type { Need } from '../core/capability/need.ts'
import { ruleOnAll } from '../core/capability/rule-on.ts'
import type { Actor } from '../core/process/record.ts'
import type { PlanPart } from './plan-part.ts'
import {
  ceilingsOfActor,
  lineageOf,
  ruleSetsOf,
  rulingFacts,
  sessionsOfActor,
  subjectOf,
} from './rule-facts.ts'
import type { WorkingRows } from './working-rows.ts'

/** The facts that say whether an actor may answer an approval. */
export function* answererFacts(
  rows: WorkingRows,
  { pid, request }: Approval,
  by: Actor,
  at: number,
): PlanPart<AnswererFacts> {
  const subject = yield* subjectOf(rows, by)
  const asking = yield* rows.process(pid)
  const askingSessions = asking?.record.sessionsAbove ?? []
  if (subject === null) return { sessions: [], ancestors: [], askingSessions, mayApprove: false }
  const lineage = by.startsWith('process:') ? yield* lineageOf(rows, by.slice('process:'.length)) : []
  const need: Need = {
    right: 'approve',
    resource:
      request.session === null
        ? { kind: 'process', pid, ancestors: request.ancestors }
        : { kind: 'session', path: request.session },
    attributes: {},
  }
  const sets = yield* ruleSetsOf(subject)
  const facts = yield* rulingFacts(rows, sets, [], [need], { at, host: null })
  const ruling = ruleOnAll(sets, [], [need], facts)
  // A ceiling gives no right, and takes away what it does not allow.
  const within = ruleOnAll([], yield* ceilingsOfActor(rows, by), [need], facts)
  return {
    sessions: yield* sessionsOfActor(rows, by),
    ancestors: lineage.slice(1).map(({ record }) => record.pid),
    askingSessions,
    // Without a rule that says so, no session may approve anything.
    mayApprove: ruling.type === 'allow' && ruling.rule !== null && within.type === 'allow',
  }
}

/** The client that passes the answer on, and facts about the asker; null if the answer comes from the person directly. */
export function* askerFacts(
  rows: WorkingRows,
  { pid }: Approval,
  { askingSessions }: AnswererFacts,
  { through }: { readonly through?: AgentClient | undefined },
): PlanPart<readonly [AgentClient, AskerFacts] | null> {
  if (through === undefined) return null
  const lineage = yield* lineageOf(rows, pid)
  return [through, { askingSessions, originators: lineage.map(({ record }) => record.originator) }]
}
