import { sameJson } from '../json/canonical.ts'
import { asJson, type Json, objectOf } from '../json/json.ts'
import { mapStrings } from '../json/map-strings.ts'
import { stopping } from '../process/decide-stop.ts'
import {
  alreadyEnded,
  type Decision,
  ended,
  type Facts,
  type Rules,
  refuse,
  replayConflict,
} from '../process/decision.ts'
import type { StoredEvent } from '../process/event.ts'
import type { Intent } from '../process/intent.ts'
import { hasEnded, type ProcessRecord } from '../process/record.ts'
import { type Refusal, refusal } from '../refusal.ts'
import { answered } from './answered.ts'
import { decideNoteMemory } from './decide-memory.ts'
import { decideEditInput, decideRemoveInput, decideReorderInputs } from './decide-queue.ts'
import { decideRewind } from './decide-rewind.ts'
import { decideNotify, decideRun } from './decide-run.ts'
import { Draft } from './draft.ts'
import { alreadyRunning, invalidRequest, notAnAgent, notRunning, refuseHead } from './refusals.ts'
import { type AgentAnswer, type PlainRequest, requestKey } from './request.ts'
import { type Part, phaseOf } from './state.ts'
import { beginNext, beginTurn, beginUnanswered, closeTurn, endTurn, outcomeOf } from './turns.ts'

export type RequestIntent = Extract<Intent, { type: 'agent_request' }>

/**
 * The methods of an agent, in each of its states. The decision is the effect: when a cancel is committed the turn has ended, and
 * its executor can write nothing more into it.
 *
 * | method       | idle                    | running                          | paused                             |
 * | run          | starts a turn           | already_running; queue and steer are admitted | closes tool calls, starts; queue and steer are admitted |
 * | resume       | not_paused              | already_running                  | goes on                            |
 * | cancel_turn  | not_running             | ends the turn                    | not_running                        |
 * | pause        | not_running             | pauses, or rolls back            | already_paused                     |
 * | notify       | starts a turn           | before the next model call       | waits                              |
 * | compact      | starts                  | already_running                  | invalid_request                    |
 * | rewind       | moves the head          | already_running                  | invalid_request                    |
 * | shutdown     | exits                   | ends the turn, exits             | exits                              |
 * | edit, remove, reorder inputs | ok      | ok                               | ok                                 |
 * | configure, allow | ok                  | ok                               | ok                                 |
 * | note_memory      | ok                  | ok                               | ok                                 |
 */
export function decideAgentRequest(facts: Facts, intent: RequestIntent, rules: Rules): Decision {
  const { row, replayed } = facts
  const { request } = intent
  const { record } = row
  if (record.agent === null) return refuse(notAnAgent(record))
  const denied = refuseActor(record, intent)
  if (denied !== undefined) return refuse(denied)
  if (replayed !== null) return replay(record, replayed, intent, rules)
  if (hasEnded(record)) return refuse(alreadyEnded(record))
  if (record.stopRequest !== null) return refuse(stopping(record))
  const draft = new Draft(row, intent)
  switch (request.type) {
    case 'run':
      return decideRun(draft, request, rules)
    case 'notify':
      return decideNotify(draft, request, rules)
    case 'edit_input':
      return decideEditInput(draft, request, rules)
    case 'remove_input':
      return decideRemoveInput(draft, request)
    case 'reorder_inputs':
      return decideReorderInputs(draft, request)
    case 'resume':
      return decideResumeTurn(draft, request)
    case 'cancel_turn':
      return decideCancelTurn(draft, request)
    case 'pause':
      return decidePauseTurn(draft, request)
    case 'compact':
      return decideCompact(draft, request)
    case 'rewind':
      return decideRewind(draft, request, intent.target)
    case 'shutdown':
      return decideShutdown(draft, request)
    case 'configure':
      return decideConfigure(draft, request)
    case 'allow':
      return decideAllow(draft, request)
    case 'exceed_limit':
      return decideExceedLimit(draft, request)
    case 'note_memory':
      return decideNoteMemory(draft, request)
  }
}

/** The pause that every kind of process has, without an id of the caller. */
export function decidePauseAgent({ row }: Facts, intent: Extract<Intent, { type: 'pause' }>): Decision {
  const { record } = row
  if (hasEnded(record)) return refuse(alreadyEnded(record))
  if (record.stopRequest !== null) return refuse(stopping(record))
  if (record.status === 'paused') return { type: 'keep' }
  return decidePauseTurn(new Draft(row, intent), { type: 'pause', id: `at ${record.revision}` })
}

export function decideResumeAgent({ row }: Facts, intent: Extract<Intent, { type: 'resume' }>): Decision {
  const { record } = row
  if (hasEnded(record)) return refuse(alreadyEnded(record))
  if (record.stopRequest !== null) return refuse(stopping(record))
  return decideResumeTurn(new Draft(row, intent), { type: 'resume', id: `at ${record.revision}` })
}

/** The answer of a request that was accepted before. */
export function answerIn({ payload }: Pick<StoredEvent, 'payload'>): AgentAnswer | null {
  const { answer }: { readonly answer?: unknown } = objectOf(payload)
  return answer === undefined ? null : (answer as AgentAnswer)
}

/** The same id with the same content is the same request, in any later state. */
function replay(
  record: ProcessRecord,
  event: StoredEvent,
  { request }: RequestIntent,
  { mask }: Rules,
): Decision {
  const stored = objectOf(event.payload)
  switch (request.type) {
    case 'run': {
      const isSame = isSameContent(stored['parts'] ?? null, request.parts, mask)
      return isSame ? { type: 'replay', event } : refuse(inputConflict(record, request.id))
    }
    case 'notify':
    case 'edit_input':
      return isSameContent(stored['parts'] ?? null, request.parts, mask)
        ? { type: 'replay', event }
        : refuse(replayConflict(record, requestKey(request)))
    case 'note_memory':
      return { type: 'replay', event }
    default:
      return sameJson(stored['request'] ?? null, asJson(request))
        ? { type: 'replay', event }
        : refuse(replayConflict(record, requestKey(request)))
  }
}

/** Parts are stored masked. More secrets may be known when a request is repeated, so both are compared as they would be masked now. */
function isSameContent(stored: Json, parts: readonly Part[], mask: (text: string) => string): boolean {
  if (sameJson(stored, parts)) return true
  const masked = (value: Json) => mapStrings({ value }, mask)
  return sameJson(masked(stored), masked(asJson(parts)))
}

function decideResumeTurn(draft: Draft, request: Extract<PlainRequest, { type: 'resume' }>): Decision {
  const { record } = draft
  const phase = phaseOf(record)
  if (phase === 'idle')
    return refuse(
      refusal('not_paused', `${record.pid} is idle, not paused.`, 'Give it an input: that starts a turn.'),
    )
  if (phase === 'running')
    return refuse(alreadyRunning(record, 'There is nothing to resume: it is not paused.'))
  draft.addOther({ type: 'resumed', payload: { source: draft.actor } })
  return answered(draft, request, { type: 'resumed', turn: draft.agent.turns })
}

function decideCancelTurn(draft: Draft, request: Extract<PlainRequest, { type: 'cancel_turn' }>): Decision {
  const { turn, inputs } = draft.agent
  if (phaseOf(draft.record) !== 'running' || turn === null) return refuse(notRunning(draft.record))
  const dropped = request.dropQueued === true ? inputs.map(({ id }) => id) : []
  for (const input of dropped) draft.add({ type: 'input_removed', payload: { input } })
  const reason = turn.hasOutput ? 'cancelled' : 'rolled_back'
  // Notices that a roll-back returns do not begin the cancelled turn again at once.
  const interrupts = endTurn(draft, { reason, holdsNotices: true })
  return answered(draft, request, {
    type: reason,
    turn: turn.number,
    returned: reason === 'rolled_back' ? turn.taken.inputs : [],
    queued: draft.agent.inputs.map(({ id }) => id),
    dropped,
    next: draft.agent.turn?.number ?? null,
    interrupts,
  })
}

/** Before any output there is nothing to go on with: the turn is rolled back, and its input can be edited. */
function decidePauseTurn(draft: Draft, request: Extract<PlainRequest, { type: 'pause' }>): Decision {
  const { record } = draft
  const phase = phaseOf(record)
  if (phase === 'paused') return answered(draft, request, { type: 'already_paused' })
  const { turn } = draft.agent
  if (phase === 'idle' || turn === null) return refuse(notRunning(record))
  if (turn.hasOutput) {
    draft.addOther({ type: 'paused', payload: { source: draft.actor } })
    return answered(draft, request, { type: 'paused', turn: turn.number })
  }
  const interrupts = endTurn(draft, { reason: 'rolled_back', holdsQueue: true })
  return answered(draft, request, {
    type: 'rolled_back',
    turn: turn.number,
    returned: turn.taken.inputs,
    queued: draft.agent.inputs.map(({ id }) => id),
    dropped: [],
    next: null,
    interrupts,
  })
}

function decideCompact(draft: Draft, request: Extract<PlainRequest, { type: 'compact' }>): Decision {
  const { record } = draft
  const phase = phaseOf(record)
  if (phase === 'running')
    return refuse(alreadyRunning(record, 'Wait until the turn has ended, or cancel it first.'))
  if (phase === 'paused')
    return refuse(invalidRequest(record, 'a paused turn cannot be compacted', 'Resume it, or give an input.'))
  const moved = refuseHead(record, request.expectedHead)
  if (moved !== undefined) return refuse(moved)
  const turn = beginTurn(draft, { cause: 'compact', asker: draft.actor })
  return answered(draft, request, { type: 'compacting', turn })
}

/** A held agent is stopped by its executor; any other ends here. */
function decideShutdown(draft: Draft, request: Extract<PlainRequest, { type: 'shutdown' }>): Decision {
  const { lease } = draft
  const reason = request.reason ?? 'shutdown'
  const interrupts = closeTurn(draft, { reason: 'cancelled' })
  if (lease.holder !== null) {
    draft.addOther({
      type: 'stop_requested',
      payload: { how: 'cancel', reason, source: draft.actor, cause: null },
    })
    return answered(draft, request, { type: 'stopping', interrupts })
  }
  const end = { status: 'completed', reason, result: null, source: draft.actor, at: draft.at } as const
  draft.push(ended(outcomeOf(draft.record, end), 'agent:ended'))
  return answered(draft, request, { type: 'exited', interrupts })
}

function decideConfigure(draft: Draft, request: Extract<PlainRequest, { type: 'configure' }>): Decision {
  const { model, effort } = request
  const payload = { model, ...(effort === undefined ? {} : { effort }) }
  draft.add({ type: 'agent_configured', payload })
  return answered(draft, request, { type: 'configured', ...payload })
}

/** What waited because of a limit goes on: an input that no model has seen yet, then the queue. */
function decideAllow(draft: Draft, request: Extract<PlainRequest, { type: 'allow' }>): Decision {
  draft.add({ type: 'agent_allowed', payload: { amounts: request.amounts } })
  const turn = phaseOf(draft.record) === 'idle' ? (beginUnanswered(draft) ?? beginNext(draft)) : null
  return answered(draft, request, { type: 'allowed', turn })
}

/** The turn ends, not the agent. Without a turn nothing can end. */
function decideExceedLimit(draft: Draft, request: Extract<PlainRequest, { type: 'exceed_limit' }>): Decision {
  const { turn } = draft.agent
  if (turn === null) return { type: 'keep' }
  if (draft.record.status === 'paused') draft.addOther({ type: 'resumed', payload: { source: draft.actor } })
  endTurn(draft, { reason: `limit:${request.limit}` })
  return answered(draft, request, { type: 'limited', turn: turn.number })
}

/** An agent cannot raise its own allowance, and neither can its session: an operator can, its parent, or a session above its own. */
function refuseActor(record: ProcessRecord, { actor, request }: RequestIntent): Refusal | undefined {
  const isKernel = actor.startsWith('kernel:')
  const isAbove =
    actor === `process:${record.parent}` ||
    (record.sessionsAbove ?? []).some((session) => actor === `session:${session}`)
  const mayAllow = isKernel || isAbove || actor === 'host' || actor.startsWith('human:')
  if (request.type === 'allow' ? mayAllow : !OF_KERNEL.has(request.type) || isKernel) return undefined
  return refusal(
    'denied',
    `${actor} may not change the limits of ${record.pid}.`,
    'Ask an operator, or the process that started it.',
    { subject: actor },
  )
}

const OF_KERNEL: ReadonlySet<string> = new Set(['exceed_limit', 'note_memory'])

function inputConflict({ pid }: ProcessRecord, id: string): Refusal {
  return refusal(
    'input_conflict',
    `${pid} has another input under the id ${JSON.stringify(id)}.`,
    'Repeat the first request exactly, or use a new id for a new input.',
  )
}
