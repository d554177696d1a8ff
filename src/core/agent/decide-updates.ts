import type { Counted } from '../allowance/amounts.ts'
import { type Decision, type Rules, refuse, refuseSize } from '../process/decision.ts'
import { type AgentAct, actKey, callKey, cutKey, toolAnsweredKey, type UpdateStep } from './act.ts'
import { refuseItems, usedUpText } from './decide-call.ts'
import type { Draft } from './draft.ts'
import { noCall } from './refusals.ts'
import { type OpenTurn, shownFrom } from './state.ts'
import { endIfCut, endTurn } from './turns.ts'

type Act<Type extends AgentAct['type']> = Extract<AgentAct, { type: Type }>

/** How far the conversation with the program of an outside agent is. */
export function decideNoteProgram(draft: Draft, act: Act<'note_program'>): Decision {
  noteProgram(draft, act)
  return draft.decision()
}

/** The program of an outside agent reports its steps while its prompt is open. They are one commit with the offset behind them. */
export function decideUpdates(
  draft: Draft,
  turn: OpenTurn,
  act: Act<'record_updates'>,
  { rules, usedUp }: { readonly rules: Rules; readonly usedUp: Counted | null },
): Decision {
  if (turn.call === null) return refuse(noCall(draft.record, turn.calls))
  const wrong = refuseItems(act.steps.filter(isItem), rules) ?? refuseResults(act.steps, rules)
  if (wrong !== undefined) return refuse(wrong)
  const steps = act.closes === true ? withLastItem(act.steps) : act.steps
  for (const [place, step] of steps.entries()) {
    // Nothing is left of a limit, or too many calls were cut: the turn is over.
    if (step.type === 'next_call' && usedUp !== null) endLimited(draft, usedUp)
    if (draft.agent.turn?.number !== act.turn) break
    addStep(draft, act, step, act.closes === true && place === steps.length - 1)
  }
  noteProgram(draft, act)
  if (act.ends !== undefined && draft.agent.turn?.number === act.turn) endTurn(draft, act.ends)
  return draft.decision()
}

type Item = Extract<UpdateStep, { type: 'item' | 'tool_call' }>

function isItem(step: UpdateStep): step is Item {
  return step.type === 'item' || step.type === 'tool_call'
}

function refuseResults(steps: readonly UpdateStep[], rules: Rules) {
  for (const step of steps) {
    const refused = 'parts' in step ? refuseSize('A part of an answer', step.parts, rules) : undefined
    if (refused !== undefined) return refused
  }
  return undefined
}

/** The item that ends the answer: an empty one, if the last step is no text. */
function withLastItem(steps: readonly UpdateStep[]): readonly UpdateStep[] {
  return steps.at(-1)?.type === 'item' ? steps : [...steps, { type: 'item', parts: [] }]
}

function addStep(draft: Draft, act: Act<'record_updates'>, step: UpdateStep, isLast: boolean): void {
  const { turn: number, model } = act
  const { calls: call = 0, tools = [], call: open = null } = draft.agent.turn ?? {}
  const at = { turn: number, call }
  const more = isLast ? {} : ({ goesOn: true } as const)
  switch (step.type) {
    case 'item':
      draft.add({ type: 'assistant_item', payload: { ...at, model, parts: step.parts, ...more } })
      break
    case 'tool_call': {
      const { type: _, ...called } = step
      draft.add({ type: 'tool_called', payload: { ...at, ...called, goesOn: true } })
      break
    }
    case 'result': {
      const { callId, parts, isError } = step
      const known = tools.find((one) => one.callId === callId)
      // The end of a call that has a result says nothing new.
      if (known === undefined) break
      const ref = { turn: number, call: known.call, index: known.index }
      const payload = { ...ref, callId, parts, isError }
      draft.add({ type: 'tool_answered', payload }, toolAnsweredKey(ref))
      break
    }
    case 'next_call': {
      const next = { turn: number, call: call + 1 }
      draft.add({ type: 'model_call_begun', payload: { ...next, model, purpose: 'answer' } }, callKey(next))
      break
    }
    case 'cut':
      if (open !== null)
        draft.add(
          { type: 'model_call_cut', payload: { ...at, why: step.why, ...shownFrom(open) } },
          cutKey(at),
        )
      endIfCut(draft)
  }
}

function endLimited(draft: Draft, usedUp: Counted): void {
  endTurn(draft, { reason: `limit:${usedUp}`, message: usedUpText(usedUp) })
}

function noteProgram(draft: Draft, act: Act<'note_program' | 'record_updates'>): void {
  const { program: given, numbers } = act
  const seq = draft.record.revision + 1
  const prompt = numbers === 'prompt' && given.prompt !== null ? { ...given.prompt, seq } : given.prompt
  const sent = numbers === 'sent' && given.sent !== null ? { ...given.sent, seq } : given.sent
  draft.add({ type: 'program_noted', payload: { program: { ...given, prompt, sent } } }, actKey(act))
}
