import type { Json } from '../json/json.ts'
import { ended } from '../process/decision.ts'
import { awaitsApproval } from '../process/gate.ts'
import type { Actor, Outcome, ProcessRecord } from '../process/record.ts'
import { cutKey, toolAnsweredKey, turnEndedKey } from './act.ts'
import type { Draft } from './draft.ts'
import type { AgentEvent, AnswerRef } from './event.ts'
import { countTurn, decideNextTurn, type GoalCheck } from './goal.ts'
import {
  MAX_TURN_CUTS,
  type QueuedInput,
  shownFrom,
  type ToolCallRef,
  type TurnCause,
  type TurnReason,
  type UnansweredTurn,
} from './state.ts'

/** The payload of the end of a turn. */
export type TurnEnded = Extract<AgentEvent, { type: 'turn_ended' }>['payload']

interface TurnEnding {
  readonly reason: TurnReason
  readonly result?: Json
  readonly answer?: AnswerRef
  readonly message?: string
  readonly check?: GoalCheck
  /** Waiting inputs and notices stay where they are. */
  readonly holdsQueue?: boolean
  /** Waiting notices stay where they are. */
  readonly holdsNotices?: boolean
}

/** Ends the open turn, and goes on with the next one, the end of the agent, or nothing. Returns the tool calls that it closed. */
export function endTurn(draft: Draft, ending: TurnEnding): readonly ToolCallRef[] {
  const hasSchema = (draft.agent.turn?.output ?? null) !== null
  const closed = closeTurn(draft, ending)
  // A goal that is not reached yet needs more turns.
  if (draft.record.spec['once'] === true && draft.agent.goal === null) {
    endAgent(draft, ending)
    return closed
  }
  if (!goesOnWithGoal(draft, ending, hasSchema) && ending.holdsQueue !== true && goesOn(ending.reason)) {
    const isHeld = ending.holdsNotices === true && draft.agent.inputs.length === 0
    if (!isHeld) beginNext(draft)
  }
  settle(draft)
  return closed
}

/** Ends a turn whose model calls are cut again and again: the next one would be, too. */
export function endIfCut(draft: Draft): void {
  const cuts = draft.agent.turn?.cuts ?? 0
  if (cuts < MAX_TURN_CUTS) return
  endTurn(draft, {
    reason: 'crashed',
    message: `${cuts} model calls in a row were cut without an answer.`,
  })
}

/** Ends the open turn and nothing else. Every tool call gets its result, so that the next prompt is valid. */
export function closeTurn(draft: Draft, ending: TurnEnding): readonly ToolCallRef[] {
  const { turn, goal } = draft.agent
  if (turn === null) return []
  const { reason, result = null, answer, message, check } = ending
  if (turn.call !== null) {
    const cut = { turn: turn.number, call: turn.call.number }
    draft.add(
      { type: 'model_call_cut', payload: { ...cut, why: reason, ...shownFrom(turn.call) } },
      cutKey(cut),
    )
  }
  const closed = turn.tools.map(({ call, index, callId }) => {
    const ref = { turn: turn.number, call, index }
    const hasBegun = !draft.neverBegan.some((one) => isSameCall(one, ref))
    const parts = [{ type: 'text', text: hasBegun ? INTERRUPTED : WITHDRAWN }]
    draft.add(
      { type: 'tool_answered', payload: { ...ref, callId, parts, isError: true, interrupted: true } },
      toolAnsweredKey(ref),
    )
    return ref
  })
  draft.add(
    {
      type: 'turn_ended',
      payload: {
        turn: turn.number,
        reason,
        calls: turn.calls,
        result: answer === undefined ? result : null,
        ...(answer === undefined ? {} : { answer }),
        ...(message === undefined ? {} : { message }),
        ...(check === undefined ? {} : { check }),
        ...(goal === null || reason !== 'finished'
          ? {}
          : { goal: decideNextTurn(countTurn(goal, check), check) }),
      },
    },
    turnEndedKey(turn.number),
  )
  return closed
}

/** The text that a model reads instead of an unknown result. */
const INTERRUPTED = 'Interrupted; its effect is unverified, check before repeating.'
/** Of a call that waited for a person. */
const WITHDRAWN = 'Withdrawn while it waited for an approval; it never began.'

function isSameCall(one: ToolCallRef, other: ToolCallRef): boolean {
  return one.turn === other.turn && one.call === other.call && one.index === other.index
}

export function beginTurn(
  draft: Draft,
  {
    cause,
    asker,
    input = null,
    hasSchema = input?.hasSchema ?? false,
    interrupted = [],
    unanswered,
    undoSince,
  }: TurnBeginning,
): number {
  const { turns, head, segment } = draft.agent
  const turn = turns + 1
  draft.add({
    type: 'turn_begun',
    payload: {
      turn,
      cause,
      asker,
      input: input?.id ?? unanswered?.input ?? null,
      follows: head,
      segment: segment.number,
      hasSchema,
      interrupted,
      ...(unanswered === undefined ? {} : { goesOnWith: unanswered.number }),
      ...(undoSince === undefined ? {} : { undoSince }),
    },
  })
  if (input !== null) promote(draft, input)
  return turn
}

interface TurnBeginning {
  readonly cause: TurnCause
  readonly asker: Actor
  readonly input?: QueuedInput | null
  /** Its result must fit the schema of an earlier input. */
  readonly hasSchema?: boolean
  readonly interrupted?: readonly ToolCallRef[]
  /** The turn that it goes on with. */
  readonly unanswered?: UnansweredTurn
  /** File changes behind this place are to be undone. */
  readonly undoSince?: number
}

/** Goes on with the last turn, if a limit ended it before its first model call. Returns the number of the new one. */
export function beginUnanswered(draft: Draft): number | null {
  const { unanswered } = draft.agent
  if (unanswered === undefined) return null
  const { cause, asker, hasSchema } = unanswered
  return beginTurn(draft, { cause, asker, hasSchema, unanswered })
}

/** The open turn takes this input: the promotion is its entry in the log. */
export function promote(draft: Draft, { id: input, seq }: QueuedInput): void {
  const { turn } = draft.agent
  if (turn === null) return
  const call = turn.calls
  draft.add({ type: 'input_promoted', payload: { turn: turn.number, call, input, seq } })
}

export function promoteNotices(draft: Draft): void {
  const { turn, notices } = draft.agent
  if (turn === null || notices.kept.length === 0) return
  const seqs = notices.kept.map(({ seq }) => seq)
  const at = { turn: turn.number, call: turn.calls }
  draft.add({ type: 'notices_promoted', payload: { ...at, seqs, more: notices.more } })
}

/** The next turn, if something waits for one: the first input, or the notices. Returns its number. */
export function beginNext(draft: Draft): number | null {
  const { inputs, notices } = draft.agent
  const [first] = inputs
  if (first !== undefined) return beginTurn(draft, { cause: 'user', asker: first.asker, input: first })
  const [notice] = notices.kept
  if (notice === undefined) return null
  const turn = beginTurn(draft, { cause: notice.cause, asker: draft.actor })
  promoteNotices(draft)
  return turn
}

/** Without a turn and without a holder it is idle. A holder says so itself, when it has stopped its work. */
export function settle(draft: Draft): void {
  const { record, lease } = draft
  if (draft.agent.turn !== null || lease.holder !== null || awaitsApproval(record)) return
  if (record.status === 'paused' || record.stopRequest !== null || record.outcome !== null) return
  if (record.parked && record.wait?.on === 'input') return
  draft.add({ type: 'agent_idled', payload: { turns: draft.agent.turns, holder: null } })
}

/**
 * Whether the queue goes on after such an end. After trouble that the next turn would meet as well, the inputs wait for a person: they
 * would be used up for nothing.
 */
function goesOn(reason: TurnReason): boolean {
  switch (reason) {
    case 'finished':
    case 'cancelled':
    case 'rolled_back':
    case 'refused':
    case 'invalid_tool_calls':
    case 'invalid_output':
      return true
    default:
      return false
  }
}

/** The record has a goal after the end of a turn only if another turn is to follow. */
function goesOnWithGoal(draft: Draft, { check }: TurnEnding, hasSchema: boolean): boolean {
  const { goal } = draft.agent
  if (goal === null) return false
  const turn = beginTurn(draft, { cause: 'goal', asker: goal.asker, hasSchema })
  const parts = [{ type: 'text', text: `The goal is not reached yet: ${check?.found ?? ''}` }]
  draft.add({ type: 'system_item', payload: { turn, call: 0, kind: 'goal', parts } })
  return true
}

/** An agent for one turn: the turn's result is its outcome. */
function endAgent(draft: Draft, { reason, result = null }: TurnEnding): void {
  const status = reason === 'finished' ? 'completed' : isStopped(reason) ? 'cancelled' : 'failed'
  const source = isStopped(reason) ? draft.actor : null
  draft.push(ended(outcomeOf(draft.record, { status, reason, result, source, at: draft.at }), 'agent:ended'))
  draft.lease = { holder: null, fence: draft.lease.fence }
}

function isStopped(reason: TurnReason): boolean {
  return reason === 'cancelled' || reason === 'rolled_back' || reason === 'paused'
}

export function outcomeOf(
  record: ProcessRecord,
  end: Pick<Outcome, 'status' | 'reason' | 'result' | 'source'> & { readonly at: number },
): Outcome {
  const { status, reason, result, source, at } = end
  return {
    status,
    exitCode: null,
    signal: null,
    reason: status === 'completed' && reason === 'finished' ? null : reason,
    source,
    result,
    evidence: null,
    startedAt: record.firstStarted?.at ?? null,
    endedAt: at,
  }
}
