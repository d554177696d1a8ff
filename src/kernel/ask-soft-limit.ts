import { softLimitKeyOf, softLimitQuestion } from '../core/agent/soft-limit-question.ts'
import { registrationText } from '../core/process/registration-request.ts'
import type { ProcessRow } from '../core/process/row.ts'
import type { Edges } from './edges.ts'
import type { PlanPart } from './plan-part.ts'
import { registerOne } from './register-one.ts'
import type { WorkingRows } from './working-rows.ts'

/**
 * Asks people whether an agent goes on that this transaction has paused at a soft limit, so that no crash comes between the pause and the
 * question. If rules or limits refuse the question, the agent stays paused, and its log has the alert.
 */
export function* askSoftLimit(
  edges: Edges,
  rows: WorkingRows,
  { was, now, at, defaultEnvRef }: Paused,
): PlanPart<void> {
  const { agent, pid, status } = now.record
  if (agent === null || status !== 'paused' || was.record.status === 'paused') return
  const limit = agent.reached.find((name) => was.record.agent?.reached.includes(name) !== true)
  if (limit === undefined) return
  const request = softLimitQuestion(now.record, limit, agent.totals)
  const text = registrationText(request)
  const asked = yield* registerOne(
    edges,
    rows,
    {
      pid: edges.pidOf(softLimitKeyOf(pid, limit)),
      bytes: text.length,
      hash: edges.hash(text),
      request,
      actor: `process:${pid}`,
      at,
      defaultEnvRef,
      here: [],
      startBy: null,
      refuseNew: null,
      fence: null,
      stepIndex: null,
      approval: null,
      acceptsLess: true,
    },
    {
      isNew: false,
      formerPid: undefined,
      restarts: undefined,
      replaced: [],
      names: [],
      // A question resolves no program.
      host: { resolved: new Map(), previews: new Map(), places: undefined, looksLeft: 0 },
    },
  )
  // The entry of a denial.
  if (asked.type === 'refused') rows.add(asked.changes ?? [])
}

interface Paused {
  readonly was: ProcessRow
  readonly now: ProcessRow
  readonly at: number
  readonly defaultEnvRef: string
}
