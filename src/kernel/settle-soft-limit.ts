import { saysGoOn, softLimitAskedBy, softLimitKeyOf } from '../core/agent/soft-limit-question.ts'
import { type Actor, hasEnded, type ProcessRecord } from '../core/process/record.ts'
import type { Edges } from './edges.ts'
import type { PlanPart } from './plan-part.ts'
import type { PerformOne } from './review.ts'
import type { WorkingRows } from './working-rows.ts'

/** The actor that resumes an agent after a yes, and withdraws questions that nothing depends on any more. */
const SOFT_LIMITS: Actor = 'kernel:soft-limits'

/** In the transaction of the answer: a yes resumes the agent, anything else leaves it paused. */
export function* settleSoftLimit(
  edges: Edges,
  rows: WorkingRows,
  performOne: PerformOne,
  question: ProcessRecord,
  at: number,
): PlanPart<void> {
  const asked = softLimitAskedBy(question)
  if (asked === null || question.outcome === null || !saysGoOn(question.outcome)) return
  if (edges.pidOf(softLimitKeyOf(asked.agent, asked.limit)) !== question.pid) return
  const agent = yield* rows.process(asked.agent)
  // Resumed or ended meanwhile.
  if (agent?.record.status !== 'paused' || agent.record.stopRequest !== null) return
  yield* performOne(edges, rows, { type: 'resume', pid: asked.agent, actor: SOFT_LIMITS, at })
}

/** In the transaction that ends the pause otherwise: no person need answer. */
export function* withdrawSoftLimit(
  edges: Edges,
  rows: WorkingRows,
  performOne: PerformOne,
  { pid: agent, agent: state }: ProcessRecord,
  at: number,
): PlanPart<void> {
  for (const limit of state?.reached ?? []) {
    const pid = edges.pidOf(softLimitKeyOf(agent, limit))
    const row = yield* rows.process(pid)
    if (row === null || hasEnded(row.record) || softLimitAskedBy(row.record)?.agent !== agent) continue
    yield* performOne(edges, rows, {
      type: 'stop',
      pid,
      actor: SOFT_LIMITS,
      at,
      how: 'cancel',
      reason: `${agent} goes on without an answer`,
      cause: null,
      replayKey: `soft limit:${limit}`,
    })
  }
}
