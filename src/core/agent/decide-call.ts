import type { Counted } from '../allowance/amounts.ts'
import { type Decision, type Rules, refuse, refuseSize } from '../process/decision.ts'
import { type Refusal, refusal } from '../refusal.ts'
import { type AgentAct, type AnswerItem, actKey, toolAnsweredKey } from './act.ts'
import type { Draft } from './draft.ts'
import { isPaused, noCall, refuseBetween, refuseUndoing } from './refusals.ts'
import { MAX_CALLS_PER_ANSWER, MAX_RECORDED_CALLS, type OpenTurn, shownFrom } from './state.ts'
import { endIfCut, endTurn, promote, promoteNotices } from './turns.ts'

type Act<Type extends AgentAct['type']> = Extract<AgentAct, { type: Type }>

/**
 * The boundary between model calls, where steering inputs and notices join the turn. If nothing is left of a limit, no call begins: the
 * turn ends with the limit, and what would have joined it waits.
 */
export function decideBeginCall(
  draft: Draft,
  turn: OpenTurn,
  act: Act<'begin_call'>,
  usedUp: Counted | null,
): Decision {
  const { record } = draft
  if (record.status === 'paused') return refuse(isPaused(record))
  const refused = refuseBetween(record, turn) ?? refuseUndoing(record, turn)
  if (refused !== undefined) return refuse(refused)
  if (act.call !== turn.calls + 1)
    return refuse(
      refusal(
        'conflict',
        `The next model call of turn ${turn.number} of ${record.pid} is ${turn.calls + 1}, not ${act.call}.`,
        'Ask its state what to do next.',
      ),
    )
  if (usedUp !== null) {
    endTurn(draft, { reason: `limit:${usedUp}`, message: usedUpText(usedUp) })
    return draft.decision()
  }
  const { purpose = 'answer' } = act
  if (purpose === 'answer') {
    for (const input of draft.agent.inputs.filter(({ mode }) => mode === 'steer')) promote(draft, input)
    promoteNotices(draft)
    if (draft.agent.turn?.expects === 'end' && act.continues !== true)
      return refuse(
        refusal(
          'conflict',
          `Turn ${turn.number} of ${record.pid} has its answer, and nothing new to ask.`,
          'End the turn.',
        ),
      )
  }
  const { turn: number, call, model } = act
  draft.add({ type: 'model_call_begun', payload: { turn: number, call, model, purpose } }, actKey(act))
  return draft.decision()
}

export function usedUpText(usedUp: Counted): string {
  return `Nothing is left of its allowance of ${usedUp}, so no model was called. Give it more: then it goes on.`
}

/** The items of one answer are one commit: no crash leaves a text without its tool calls, or a cut answer as the result. */
export function decideRecordAnswer(
  draft: Draft,
  turn: OpenTurn,
  act: Act<'record_answer'>,
  rules: Rules,
): Decision {
  const { record } = draft
  if (turn.call?.number !== act.call || turn.call.purpose !== 'answer')
    return refuse(noCall(record, act.call))
  const wrong = refuseItems(act.items, rules)
  if (wrong !== undefined) return refuse(wrong)
  // An empty answer is an answer, too: the log says that the call is over.
  const items: readonly AnswerItem[] = act.items.length === 0 ? [{ type: 'item', parts: [] }] : act.items
  const at = { turn: act.turn, call: act.call }
  let index = 0
  for (const [place, item] of items.entries()) {
    const key = place === 0 ? actKey(act) : null
    if (item.type === 'item') {
      draft.add({ type: 'assistant_item', payload: { ...at, model: act.model, parts: item.parts } }, key)
      continue
    }
    const { callId, tool, parts, isProviderExecuted } = item
    const executed = isProviderExecuted === true ? ({ isProviderExecuted } as const) : {}
    draft.add({ type: 'tool_called', payload: { ...at, index, callId, tool, parts, ...executed } }, key)
    index += 1
  }
  refuseSurplus(draft, at)
  if (act.note !== undefined && draft.agent.turn?.tools.length === 0) {
    const parts = [{ type: 'text', text: act.note }]
    draft.add({ type: 'system_item', payload: { ...at, kind: 'note', parts } })
  }
  return draft.decision()
}

/** The calls beyond the bound get their results here: they are never open, and a prompt has all calls before the first result. */
function refuseSurplus(draft: Draft, at: { readonly turn: number; readonly call: number }): void {
  for (const { index, callId } of (draft.agent.turn?.tools ?? []).slice(MAX_CALLS_PER_ANSWER)) {
    const ref = { ...at, index }
    const parts = [{ type: 'text', text: SURPLUS }]
    draft.add(
      { type: 'tool_answered', payload: { ...ref, callId, parts, isError: true } },
      toolAnsweredKey(ref),
    )
  }
}

const SURPLUS = `Not executed: at most ${MAX_CALLS_PER_ANSWER} calls of one answer are. Ask for it again if it is still needed.`

export function decideCutCall(draft: Draft, turn: OpenTurn, act: Act<'cut_call'>): Decision {
  if (turn.call?.number !== act.call) return refuse(noCall(draft.record, act.call))
  const { type: _, ...cut } = act
  draft.add({ type: 'model_call_cut', payload: { ...cut, ...shownFrom(turn.call) } }, actKey(act))
  endIfCut(draft)
  return draft.decision()
}

export function decideRetryCall(draft: Draft, turn: OpenTurn, act: Act<'retry_call'>): Decision {
  const isOfCheck = act.call === CHECK_CALL && turn.call === null && turn.expects === 'end'
  if (turn.call?.number !== act.call && !isOfCheck) return refuse(noCall(draft.record, act.call))
  const { type: _, ...retried } = act
  draft.add({ type: 'model_call_retried', payload: retried })
  return draft.decision()
}

/** The number of the call that checks the goal of a turn, which has its answer. Calls of the turn begin at 1. */
export const CHECK_CALL = 0

const MAX_NAME_CHARS = 200

export function refuseItems(items: readonly AnswerItem[], rules: Rules): Refusal | undefined {
  const calls = items.filter((item) => item.type === 'tool_call')
  if (calls.length > MAX_RECORDED_CALLS)
    return refusal(
      'invalid_input',
      `The answer has ${calls.length} tool calls.`,
      `An answer has at most ${MAX_RECORDED_CALLS}: end the turn.`,
    )
  const isNamed = ({ callId, tool }: { readonly callId: string; readonly tool: string }) =>
    callId !== '' && callId.length <= MAX_NAME_CHARS && tool.length <= MAX_NAME_CHARS
  const ids = new Set(calls.map(({ callId }) => callId))
  if (!calls.every(isNamed) || ids.size < calls.length)
    return refusal(
      'invalid_input',
      'A tool call of the answer has no id, one that is too long, or that of another call.',
      `Give each call an id of its own, of 1 to ${MAX_NAME_CHARS} characters.`,
    )
  for (const { parts } of items) {
    const tooLarge = refuseSize('An item of the answer', parts, rules)
    if (tooLarge !== undefined) return tooLarge
  }
  return undefined
}
