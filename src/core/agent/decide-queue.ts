import { type Decision, type Rules, refuse } from '../process/decision.ts'
import type { ProcessRecord } from '../process/record.ts'
import { type Refusal, refusal } from '../refusal.ts'
import { answered } from './answered.ts'
import { refuseParts } from './decide-run.ts'
import type { Draft } from './draft.ts'
import { invalidRequest } from './refusals.ts'
import { type AgentAnswer, type EditInputRequest, type PlainRequest, requestKey } from './request.ts'

/** Inputs can be changed until a turn takes them. */
export function decideEditInput(draft: Draft, request: EditInputRequest, rules: Rules): Decision {
  const { input, parts } = request
  const wrong = refuseTaken(draft, input) ?? refuseParts(draft.record, parts, rules)
  if (wrong !== undefined) return refuse(wrong)
  const answer: AgentAnswer = { type: 'edited', input }
  draft.add({ type: 'input_edited', payload: { input, parts, answer } }, requestKey(request))
  return draft.decision(answer)
}

export function decideRemoveInput(
  draft: Draft,
  request: Extract<PlainRequest, { type: 'remove_input' }>,
): Decision {
  const { input } = request
  const wrong = refuseTaken(draft, input)
  if (wrong !== undefined) return refuse(wrong)
  draft.add({ type: 'input_removed', payload: { input } })
  return answered(draft, request, { type: 'removed', input })
}

export function decideReorderInputs(
  draft: Draft,
  request: Extract<PlainRequest, { type: 'reorder_inputs' }>,
): Decision {
  const { inputs } = request
  const waiting = draft.agent.inputs.map(({ id }) => id)
  const isWhole = inputs.length === waiting.length && waiting.every((id) => inputs.includes(id))
  if (!isWhole) return refuse(otherInputs(draft.record, waiting))
  draft.add({ type: 'inputs_reordered', payload: { inputs } })
  return answered(draft, request, { type: 'reordered', inputs })
}

function refuseTaken({ record, agent }: Draft, input: string): Refusal | undefined {
  if (agent.inputs.some(({ id }) => id === input)) return undefined
  return refusal(
    'not_found',
    `No input ${JSON.stringify(input)} of ${record.pid} waits: it was taken by a turn, removed, or never given.`,
    'List the waiting inputs.',
  )
}

function otherInputs(record: ProcessRecord, waiting: readonly string[]): Refusal {
  return invalidRequest(
    record,
    `the waiting inputs are ${waiting.length === 0 ? 'none' : waiting.join(', ')}`,
    'Name each of them once, in the new order.',
  )
}
