import type { Counted } from '../allowance/amounts.ts'
import { sameJson } from '../json/canonical.ts'
import { objectOf } from '../json/json.ts'
import { holds } from '../lease/lease.ts'
import {
  alreadyEnded,
  type Decision,
  type Facts,
  type Rules,
  refuse,
  refuseSize,
  replayConflict,
  staleFence,
} from '../process/decision.ts'
import type { StoredEvent } from '../process/event.ts'
import type { Intent } from '../process/intent.ts'
import { hasEnded, type ProcessRecord } from '../process/record.ts'
import { type Refusal, refusal } from '../refusal.ts'
import { type AgentAct, actKey, type TurnAct } from './act.ts'
import { decideBeginCall, decideCutCall, decideRecordAnswer, decideRetryCall } from './decide-call.ts'
import { decideNoteProgram, decideUpdates } from './decide-updates.ts'
import { Draft } from './draft.ts'
import { isPaused, noCall, notAnAgent, refuseBetween, turnOver } from './refusals.ts'
import { softLimitAlert } from './soft-limit-alert.ts'
import { stallMessage, stallOf } from './stall.ts'
import { type AgentState, MAX_OUTPUT_REPAIRS, nextSegment, type OpenTurn, softLimitsOf } from './state.ts'
import { endTurn } from './turns.ts'

export type ActIntent = Extract<Intent, { type: 'agent_act' }>
type Act<Type extends AgentAct['type']> = Extract<AgentAct, { type: Type }>

/**
 * The acts of an agent's executor. A log that no provider would accept cannot be written: a result belongs to an open call and comes
 * once, a model call begins when every tool call has its result, and nothing is written into a turn that has ended.
 */
export function decideAgentAct(facts: Facts, { act, fence, ...asked }: ActIntent, rules: Rules): Decision {
  const { row, replayed } = facts
  const { record } = row
  if (record.agent === null) return refuse(notAnAgent(record))
  if (hasEnded(record)) return refuse(alreadyEnded(record))
  if (!holds(row, fence)) return refuse(staleFence(record, fence))
  if (replayed !== null) return replay(record, replayed, act)
  const draft = new Draft(row, asked)
  if (act.type === 'go_idle') return decideGoIdle(draft)
  if (act.type === 'note_program') return decideNoteProgram(draft, act)
  const { turn } = record.agent
  // The work was done and paid for, also if its turn was cancelled meanwhile.
  if (act.type === 'record_usage' && act.turn <= record.agent.turns) return decideUsage(draft, act)
  // The file is as it is written.
  if (act.type === 'put_back' && act.turn <= record.agent.turns) return decidePutBack(draft, act)
  if (turn === null || turn.number !== act.turn) return refuse(turnOver(record, act.turn))
  return decideInTurn(draft, turn, act, { rules, usedUp: facts.usedUp ?? null })
}

interface TurnFacts {
  readonly rules: Rules
  /** A limit for calls of models, of which nothing is left. */
  readonly usedUp: Counted | null
}

function decideInTurn(draft: Draft, turn: OpenTurn, act: TurnAct, { rules, usedUp }: TurnFacts): Decision {
  if ('parts' in act) {
    const tooLarge = refuseSize(`The content of ${act.type}`, act.parts, rules)
    if (tooLarge !== undefined) return refuse(tooLarge)
  }
  switch (act.type) {
    case 'begin_call':
      return decideBeginCall(draft, turn, act, usedUp)
    case 'begin_output':
      return decideBeginOutput(draft, turn, act)
    case 'record_answer':
      return decideRecordAnswer(draft, turn, act, rules)
    case 'record_updates':
      return decideUpdates(draft, turn, act, { rules, usedUp })
    case 'cut_call':
      return decideCutCall(draft, turn, act)
    case 'retry_call':
      return decideRetryCall(draft, turn, act)
    case 'record_result':
      return decideResult(draft, turn, act)
    case 'record_usage':
      return decideUsage(draft, act)
    case 'put_back':
      return decidePutBack(draft, act)
    case 'add_system_item':
      return decideSystemItem(draft, turn, act)
    case 'begin_segment':
      return decideSegment(draft, turn, act)
    case 'alert': {
      const { type: _, key: __, ...payload } = act
      draft.add({ type: 'agent_alerted', payload }, actKey(act))
      return draft.decision()
    }
    case 'report_trouble': {
      const { type: _, key: __, ...payload } = act
      draft.add({ type: 'agent_failed', payload }, actKey(act))
      return draft.decision()
    }
    case 'end_turn':
      return decideEndTurn(draft, turn, act, rules)
  }
}

/** A repeated act is answered with the first one, if it says the same. The result that Reeve made up for a closed call is another one. */
function replay(record: ProcessRecord, event: StoredEvent, act: AgentAct): Decision {
  if (act.type !== 'record_result') return { type: 'replay', event }
  const stored = objectOf(event.payload)
  if (stored['interrupted'] === true) return refuse(turnOver(record, act.turn))
  return sameJson(stored['parts'] ?? null, act.parts)
    ? { type: 'replay', event }
    : refuse(replayConflict(record, event.replayKey ?? ''))
}

function decideBeginOutput(draft: Draft, turn: OpenTurn, act: Act<'begin_output'>): Decision {
  if (turn.call?.number !== act.call) return refuse(noCall(draft.record, act.call))
  const { type: _, ...output } = act
  draft.add({ type: 'output_begun', payload: output }, actKey(act))
  return draft.decision()
}

function decideResult(draft: Draft, turn: OpenTurn, act: Act<'record_result'>): Decision {
  const { type: _, ...result } = act
  const open = turn.tools.find(({ call, index }) => call === act.call && index === act.index)
  if (open === undefined)
    return refuse(
      refusal(
        'conflict',
        `${draft.record.pid} has no open tool call ${act.turn}.${act.call}.${act.index}.`,
        'Ask its state for the open calls.',
      ),
    )
  draft.add({ type: 'tool_answered', payload: { ...result, callId: open.callId } }, actKey(act))
  const stall = stallOf(draft.agent.stall)
  if (stall !== null)
    draft.add({
      type: 'agent_alerted',
      payload: { turn: act.turn, alert: 'stalled', message: stallMessage(stall) },
    })
  return draft.decision()
}

function decideUsage(draft: Draft, act: Act<'record_usage'>): Decision {
  const { type: _, ...usage } = act
  const { totals: before } = draft.agent
  draft.add({ type: 'model_used', payload: usage }, actKey(act))
  const { totals: after, reached, turn } = draft.agent
  if (turn === null) return draft.decision()
  const alert = softLimitAlert(softLimitsOf(draft.record), { before, after, reached })
  if (alert === null) return draft.decision()
  draft.add({ type: 'agent_alerted', payload: { turn: turn.number, ...alert } })
  const isReached = alert.alert === 'soft_limit'
  if (isReached && draft.record.status !== 'paused' && draft.record.stopRequest === null)
    draft.addOther({ type: 'paused', payload: { source: draft.actor } })
  return draft.decision()
}

function decidePutBack(draft: Draft, act: Act<'put_back'>): Decision {
  const { type: _, key: __, ...payload } = act
  draft.add({ type: 'files_put_back', payload }, actKey(act))
  return draft.decision()
}

function decideSystemItem(draft: Draft, turn: OpenTurn, act: Act<'add_system_item'>): Decision {
  const refused = refuseBetween(draft.record, turn)
  if (refused !== undefined) return refuse(refused)
  if (act.kind === 'repair' && (turn.output?.repairs ?? MAX_OUTPUT_REPAIRS) >= MAX_OUTPUT_REPAIRS)
    return refuse(
      refusal(
        'conflict',
        `Turn ${turn.number} of ${draft.record.pid} has no repair of its output left.`,
        'End the turn with invalid_output.',
      ),
    )
  const { kind, parts } = act
  draft.add({ type: 'system_item', payload: { turn: act.turn, call: turn.calls, kind, parts } }, actKey(act))
  return draft.decision()
}

/** A failed compaction changes nothing: the segment begins with the answer. */
function decideSegment(draft: Draft, turn: OpenTurn, act: Act<'begin_segment'>): Decision {
  const isCompacted = turn.call?.purpose === 'compaction' && act.why === 'compaction'
  const refused = isCompacted ? undefined : refuseBetween(draft.record, turn)
  if (refused !== undefined) return refuse(refused)
  const { agent } = draft
  const { number, last } = agent.segment
  const isNext = act.segment === nextSegment(agent) || (last === undefined && act.segment === number + 1)
  if (!isNext)
    return refuse(
      refusal(
        'conflict',
        `The segment of ${draft.record.pid} is ${agent.segment.number}, so ${act.segment} is not the next.`,
        'Ask its state for the segment.',
      ),
    )
  const { type: _, ...segment } = act
  const origin = { segment: agent.segment.number, head: agent.head }
  draft.add({ type: 'segment_begun', payload: { ...segment, call: turn.calls, origin } }, actKey(act))
  return draft.decision()
}

function decideEndTurn(draft: Draft, turn: OpenTurn, act: Act<'end_turn'>, rules: Rules): Decision {
  const { record } = draft
  const tooLarge = refuseSize('The result', act.result ?? null, rules)
  if (tooLarge !== undefined) return refuse(tooLarge)
  const { turn: _, type: __, fitsSchema, ...ending } = act
  if (act.reason === 'finished') {
    const refused = refuseBetween(record, turn) ?? refuseUnfinished(record, turn, draft.agent)
    if (refused !== undefined) return refuse(refused)
    if (record.status === 'paused') return refuse(isPaused(record))
    if (turn.output !== null && fitsSchema !== true)
      return refuse(
        refusal(
          'conflict',
          `Turn ${turn.number} of ${record.pid} has no result that fits its schema.`,
          'Send the answer back for a repair, or end the turn with invalid_output.',
        ),
      )
  }
  if (record.status === 'paused') draft.addOther({ type: 'resumed', payload: { source: draft.actor } })
  endTurn(draft, ending)
  return draft.decision()
}

/** The executor has stopped its work, and gives its lease back. */
function decideGoIdle(draft: Draft): Decision {
  const { record, lease } = draft
  const { turn, turns } = draft.agent
  if (turn !== null || record.status === 'paused' || record.stopRequest !== null)
    return refuse(
      refusal(
        'conflict',
        `${record.pid} is not idle: turn ${turns}, ${record.status}.`,
        'Ask its state what to do next.',
      ),
    )
  draft.add({ type: 'agent_idled', payload: { turns, holder: lease.holder } })
  draft.lease = { holder: null, fence: lease.fence }
  return draft.decision()
}

/** An input that steers joins this turn, and so does a notice: neither may wait for an answer that has been given. */
function refuseUnfinished(record: ProcessRecord, turn: OpenTurn, agent: AgentState): Refusal | undefined {
  const isPending = agent.inputs.some(({ mode }) => mode === 'steer') || agent.notices.kept.length > 0
  if (turn.expects === 'end' && !isPending) return undefined
  return refusal(
    'conflict',
    `Turn ${turn.number} of ${record.pid} is not finished: ${isPending ? 'an input or a notice joins it' : 'the model has not answered'}.`,
    'Call the model again.',
  )
}
