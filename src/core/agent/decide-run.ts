import { type Decision, type Rules, refuse, refuseSize } from '../process/decision.ts'
import type { Pid } from '../process/pid.ts'
import type { ProcessRecord } from '../process/record.ts'
import { type Refusal, refusal } from '../refusal.ts'
import type { Draft } from './draft.ts'
import { alreadyRunning, invalidRequest, refuseHead } from './refusals.ts'
import { groupAwaiting, groupHead, isComplete } from './report-group.ts'
import { type AgentAnswer, type NotifyRequest, type RunRequest, requestKey } from './request.ts'
import {
  DEFAULT_GOAL_TURNS,
  MAX_BUFFERED_NOTICES,
  MAX_GOAL_TURNS,
  MAX_QUEUED_INPUTS,
  type Part,
  phaseOf,
  type QueuedInput,
  type ToolCallRef,
} from './state.ts'
import { beginNext, beginTurn, closeTurn } from './turns.ts'

/** An input: it starts a turn, or waits for one. It is checked whole before anything of it is stored. */
export function decideRun(draft: Draft, request: RunRequest, rules: Rules): Decision {
  const { record } = draft
  const phase = phaseOf(record)
  const { mode, id: input } = request
  const wrong = refuseInput(record, request, rules)
  if (wrong !== undefined) return refuse(wrong)
  if (phase === 'running' && mode === 'run') return refuse(alreadyRunning(record))
  const moved = refuseHead(record, request.expectedHead)
  if (moved !== undefined) return refuse(moved)
  const starts = phase === 'idle' || (phase === 'paused' && mode === 'run')
  if (!starts) {
    if (mode === 'steer' && request.schema !== undefined)
      return refuse(
        invalidRequest(
          record,
          'an input that joins a running turn has no result of its own',
          'Leave the schema out, or queue the input.',
        ),
      )
    if (draft.agent.inputs.length >= MAX_QUEUED_INPUTS) return refuse(queueFull(record))
    const place = draft.agent.inputs.length + 1
    const answer: AgentAnswer = { type: 'admitted', input, mode: mode === 'run' ? 'queue' : mode, place }
    admit(draft, request, answer)
    return draft.decision(answer)
  }
  // In the order of their arrival: earlier inputs may wait, because a turn failed.
  const isBehind = mode === 'queue' && draft.agent.inputs.length > 0
  if (isBehind && draft.agent.inputs.length >= MAX_QUEUED_INPUTS) return refuse(queueFull(record))
  if (isBehind) {
    const place = draft.agent.inputs.length + 1
    const answer: AgentAnswer = { type: 'admitted', input, mode, place }
    admit(draft, request, answer)
    beginNext(draft)
    return draft.decision(answer)
  }
  const { agent } = draft
  const interrupts = (agent.turn?.tools ?? []).map(({ call, index }) => ({
    turn: agent.turns,
    call,
    index,
  }))
  const answer: AgentAnswer = { type: 'started', input, turn: agent.turns + 1, interrupts }
  // The end of the paused turn ends its goal loop as well, so it comes before the input, which may begin another one.
  if (phase === 'paused') leavePause(draft)
  admit(draft, request, answer)
  start(draft, input, interrupts)
  return draft.decision(answer)
}

/** A notice begins a turn of an idle agent; otherwise the next model call sees it. */
export function decideNotify(draft: Draft, request: NotifyRequest, rules: Rules): Decision {
  const wrong = refuseParts(draft.record, request.parts, rules)
  if (wrong !== undefined) return refuse(wrong)
  return draft.decision(notify(draft, request))
}

/** The first report of a member of a group fills its seat. The last one tells the report of the group. */
export function tellReport(draft: Draft, child: Pid, request: NotifyRequest): void {
  const awaiting = groupAwaiting(draft.agent, child)
  if (awaiting === undefined) {
    notify(draft, request)
    return
  }
  const { id: notice, cause, parts } = request
  const answer = { type: 'buffered', notice, turn: null, isCounted: false } as const
  const payload = { notice, cause, source: draft.actor, parts, answer, seatOf: child }
  draft.add({ type: 'notice_buffered', payload }, requestKey(request))
  const group = draft.agent.groups?.find(({ id }) => id === awaiting.id)
  if (group === undefined || !isComplete(group)) return
  const { id } = group
  notify(draft, { type: 'notify', id: `group:${id}`, cause, parts: [groupHead(group)] }, { group: id })
}

/** Adds the notice, and the turn that it begins. Also for messages and ends of children, which are decided elsewhere. */
export function notify(
  draft: Draft,
  request: NotifyRequest,
  of: { readonly group?: string } = {},
): AgentAnswer {
  const { id: notice, cause, parts } = request
  const isIdle = phaseOf(draft.record) === 'idle' && draft.record.stopRequest === null
  const turn = isIdle ? draft.agent.turns + 1 : null
  const isCounted = draft.agent.notices.kept.length >= MAX_BUFFERED_NOTICES
  const answer: AgentAnswer = { type: 'buffered', notice, turn, isCounted }
  const payload = { notice, cause, source: draft.actor, parts, answer, ...of }
  draft.add({ type: 'notice_buffered', payload }, requestKey(request))
  if (isIdle) beginNext(draft)
  return answer
}

function admit(draft: Draft, request: RunRequest, answer: AgentAnswer): void {
  const { id: input, mode, parts, schema, until } = request
  draft.add(
    {
      type: 'input_admitted',
      payload: {
        input,
        mode,
        parts,
        asker: draft.actor,
        ...(schema === undefined ? {} : { schema }),
        ...(until === undefined ? {} : { until, maxTurns: request.maxTurns ?? DEFAULT_GOAL_TURNS }),
        answer,
      },
    },
    requestKey(request),
  )
}

/** The paused turn ends here: its open tool calls get a result, and the next turn says that it was interrupted. */
function leavePause(draft: Draft): void {
  closeTurn(draft, { reason: 'paused' })
  draft.addOther({ type: 'resumed', payload: { source: draft.actor } })
}

function start(draft: Draft, id: string, interrupted: readonly ToolCallRef[]): void {
  const wasPaused = draft.events.some(({ type }) => type === 'turn_ended')
  const input = draft.agent.inputs.find((one): one is QueuedInput => one.id === id) ?? null
  const turn = beginTurn(draft, { cause: 'user', asker: draft.actor, input, interrupted })
  if (!wasPaused) return
  const parts = [{ type: 'text', text: PAUSED_NOTE }]
  draft.add({ type: 'system_item', payload: { turn, call: 0, kind: 'note', parts } })
}

/** The text for a model before an input that interrupted it. */
const PAUSED_NOTE = 'The previous turn was paused by the user and did not finish.'

const MAX_ID_CHARS = 200
const MAX_PARTS = 256
const MAX_UNTIL_CHARS = 2_000

function refuseInput(record: ProcessRecord, request: RunRequest, rules: Rules): Refusal | undefined {
  const { id, mode, until, schema, maxTurns } = request
  if (id === '' || id.length > MAX_ID_CHARS)
    return invalidRequest(record, `the id has ${id.length} characters`, `Use 1 to ${MAX_ID_CHARS}.`)
  const wrong = refuseParts(record, request.parts, rules)
  if (wrong !== undefined) return wrong
  if (schema !== undefined) {
    const tooLarge = refuseSize('The schema', schema, rules)
    if (tooLarge !== undefined) return tooLarge
  }
  if (record.spec['once'] === true && mode === 'queue')
    return invalidRequest(
      record,
      'it ends with its first turn, so no input can wait',
      'Steer, or spawn another agent.',
    )
  if (until === undefined) return undefined
  const text = until.type === 'command' ? until.run : until.check
  if (mode !== 'run' || text === '' || text.length > MAX_UNTIL_CHARS)
    return invalidRequest(
      record,
      'until is for an input that starts at once',
      `Use mode run, and up to ${MAX_UNTIL_CHARS} characters.`,
    )
  if (maxTurns !== undefined && (!Number.isInteger(maxTurns) || maxTurns < 1 || maxTurns > MAX_GOAL_TURNS))
    return invalidRequest(record, `${maxTurns} turns`, `Use 1 to ${MAX_GOAL_TURNS}.`)
  return undefined
}

export function refuseParts(
  record: ProcessRecord,
  parts: readonly Part[],
  rules: Rules,
): Refusal | undefined {
  if (parts.length === 0 || parts.length > MAX_PARTS)
    return invalidRequest(record, `${parts.length} parts`, `Give 1 to ${MAX_PARTS} parts.`)
  return refuseSize('The input', parts, rules)
}

function queueFull({ pid }: ProcessRecord): Refusal {
  return refusal(
    'limit_exceeded',
    `limit:queuedInputs of ${pid}: ${MAX_QUEUED_INPUTS} inputs wait already.`,
    'Wait until a turn takes one, or remove some.',
    { limit: 'queuedInputs', left: 0, asked: 1 },
  )
}
