import { childrenOf } from '../core/agent/delegation.ts'
import { withReport } from '../core/agent/from-outside.ts'
import { saidIn } from '../core/agent/output.ts'
import { type ReportDue, type ReportFacts, reportDue, reportKey, reportParts } from '../core/agent/report.ts'
import { inputKey } from '../core/agent/request.ts'
import { agentSessionOf } from '../core/agent/session.ts'
import { type Part, phaseOf } from '../core/agent/state.ts'
import { listenerOf } from '../core/inbox/notice.ts'
import { asJson, type Json, objectOf } from '../core/json/json.ts'
import { MAX_LIVE_JOBS } from '../core/memory/memory-job.ts'
import { isMemoryJob } from '../core/memory/memory-spec.ts'
import type { NewEvent } from '../core/process/decision.ts'
import { fold } from '../core/process/fold.ts'
import type { Intent } from '../core/process/intent.ts'
import { hasEnded, type ProcessRecord } from '../core/process/record.ts'
import type { ProcessRow } from '../core/process/row.ts'
import { know } from '../store/contract.ts'
import type { PlanPart } from './plan-part.ts'
import type { WorkingRows } from './working-rows.ts'

/** The last answer of a turn is among its last events: after it there are at most closed tool calls. */
const TAIL_EVENTS = 64
const TAIL_BYTES = 512 * 1024

/**
 * Tells the parent of an agent about its turn or its end, in the same transaction: no crash comes in between. An agent is told in its session
 * log; any other parent in the inbox of the child's listener.
 */
export function* reportToParent(
  rows: WorkingRows,
  was: ProcessRow,
  now: ProcessRecord,
  events: readonly NewEvent[],
  intent: Intent,
  mask: (text: string) => string,
): PlanPart<void> {
  const due = reportDue({ was: was.record, now, events })
  if (due === null || now.parent === null) return
  const parent = yield* rows.process(now.parent)
  if (parent === null || hasEnded(parent.record)) return
  const isAgent = parent.record.agent !== null
  // The inbox gets a notice of every end besides.
  if (!isAgent && due.turn === null) return
  const { at } = intent
  const parts = reportParts(now, due, yield* reportFacts(rows, now, due, intent), { at, mask })
  if (!isAgent) return tellListener(rows, now, parts, at)
  const report = { id: reportKey(now.pid, due), parts }
  const asked = { actor: `process:${now.pid}`, at } as const
  const told = withReport(parent, now.pid, report, asked)
  const { pid } = parent.record
  rows.add(fold({ pid, was: parent, group: null, events: told, lease: undefined, ...asked }).changes)
}

function* reportFacts(
  rows: WorkingRows,
  now: ProcessRecord,
  { turn }: ReportDue,
  intent: Intent,
): PlanPart<ReportFacts> {
  const { pid } = now
  const isWaiting = !hasEnded(now) && (yield* hasWorkLeft(now))
  if (turn === null) return { asked: null, said: [], beginning: null, isWaiting }
  const { input, number } = turn.open
  const given = input === null ? null : yield* rows.replayed(pid, inputKey(input))
  const asked = given === null ? null : { at: given.at, text: saidIn(partsOf(given.payload)) }
  const tail = yield* know({ ask: 'tail', pid, limit: TAIL_EVENTS, bytes: TAIL_BYTES })
  const answers = tail.filter(
    ({ type, payload }) => type === 'assistant_item' && objectOf(payload)['turn'] === number,
  )
  const last = objectOf(answers.at(-1)?.payload)['call']
  const said = answers
    .filter(({ payload }) => objectOf(payload)['call'] === last)
    .flatMap(({ payload }) => partsOf(payload))
    .filter(({ type }) => type === 'text' || type === 'blob')
  return { asked, said, beginning: beginningIn(intent), isWaiting }
}

/** Commands and workflows that it started live, or agents that are not idle. The program of an outside agent is the agent itself. */
function* hasWorkLeft(child: ProcessRecord): PlanPart<boolean> {
  const { pid, agent } = child
  const owner = { session: [agentSessionOf(pid)] }
  const works = yield* know({
    ask: 'processes',
    filter: { owner, kind: ['command', 'workflow'] },
    after: null,
    // The agent does not wait for the jobs of its memory.
    limit: 2 + MAX_LIVE_JOBS,
  })
  if (works.items.some(({ record }) => record.pid !== agent?.program?.pid && !isMemoryJob(record)))
    return true
  const below = yield* know({
    ask: 'processes',
    filter: { owner, kind: ['agent'] },
    after: null,
    limit: Math.max(1, childrenOf(child)),
  })
  return below.items.some(({ record }) => phaseOf(record) !== 'idle')
}

/** The executor says what the result is: the end of the turn does not repeat it. */
function beginningIn(intent: Intent): string | null {
  if (intent.type !== 'agent_act' || intent.act.type !== 'end_turn') return null
  const { result } = intent.act
  return typeof result === 'string' ? result : null
}

function partsOf(payload: Json): readonly Part[] {
  const { parts } = objectOf(payload)
  return Array.isArray(parts) ? (parts as readonly Part[]) : []
}

function tellListener(rows: WorkingRows, child: ProcessRecord, parts: readonly Part[], at: number): void {
  const scope = listenerOf(child)
  if (scope === null) return
  const { pid, revision, replyTo, identity, name } = child
  const [first] = parts
  const payload = asJson({
    label: identity.label,
    name,
    text: String(first?.['text'] ?? ''),
    report: first?.['report'] ?? null,
  })
  rows.add([{ type: 'notice', notice: { scope, pid, seq: revision, kind: 'report', at, payload, replyTo } }])
}
