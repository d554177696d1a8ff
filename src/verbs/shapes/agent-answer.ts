import * as z from 'zod'
import type { AgentAnswer } from '../../core/agent/request.ts'
import { EFFORTS } from '../../core/model/prompt.ts'
import { toolCallRef } from './agent.ts'
import { place, removedInput, undone } from './agent-rewind.ts'
import { count } from './scalars.ts'

const input = z.string().describe('the id of the input')
const turn = count.describe('the number of the turn')
const interrupts = z
  .array(toolCallRef)
  .describe('tool calls that were closed without a result; their processes are interrupted')

const started = z.strictObject({ type: z.literal('started'), input, turn, interrupts })
const admitted = z.strictObject({
  type: z.literal('admitted'),
  input,
  mode: z.enum(['queue', 'steer']),
  place: count.describe('its place among the inputs that wait, from 1'),
})
const stopped = z.strictObject({
  type: z
    .enum(['cancelled', 'rolled_back'])
    .describe('`rolled_back`: the model had produced nothing, and the session is as it was before the turn'),
  turn,
  returned: z.array(input).describe('of a roll-back: the inputs of the turn, to edit and send again'),
  queued: z.array(input).describe('inputs that still wait'),
  dropped: z.array(input).describe('inputs that were removed on request'),
  next: count.nullable().describe('the turn that goes on with the next input; null if none does'),
  interrupts,
})

/** The answers of the methods of agents. */
export const runAnswer = z.discriminatedUnion('type', [started, admitted])
export const resumeAnswer = z.strictObject({ type: z.literal('resumed'), turn })
export const cancelAnswer = stopped
export const pauseAnswer = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('paused'), turn }),
  z.strictObject({ type: z.literal('already_paused') }),
  stopped,
])
export const notifyAnswer = z.strictObject({
  type: z.literal('buffered'),
  notice: z.string().describe('the id of the notice'),
  turn: count.nullable().describe('the turn that it began; null if it waits for the next model call'),
  isCounted: z.boolean().describe('too many notices wait: this one is counted, and only the log has it'),
})
export const compactAnswer = z.strictObject({ type: z.literal('compacting'), turn })
export const rewoundAnswer = z.strictObject({
  type: z.literal('rewound'),
  from: place.describe('the head of the session before it'),
  head: place.describe('the head of the session now'),
  left: count.nullable().describe('the last turn of the branch that it left'),
  last: count.nullable().describe('the last turn of the current branch; null: the session is empty'),
  turn: count.nullable().describe('the turn that puts files back'),
  undone,
  removed: z.strictObject(removedInput).nullable(),
})
export const shutDownAnswer = z.strictObject({
  type: z.enum(['exited', 'stopping']).describe('`stopping`: its executor stops its work, then it ends'),
  interrupts,
})
export const editAnswer = z.strictObject({ type: z.literal('edited'), input })
export const removeAnswer = z.strictObject({ type: z.literal('removed'), input })
export const reorderAnswer = z.strictObject({
  type: z.literal('reordered'),
  inputs: z.array(input).describe('all waiting inputs in their order'),
})
export const configureAnswer = z.strictObject({
  type: z.literal('configured'),
  model: z.string(),
  effort: z.enum(EFFORTS).exactOptional(),
})
export const allowAnswer = z.strictObject({
  type: z.literal('allowed'),
  turn: count
    .nullable()
    .describe('the turn that goes on with a waiting input; null if none waits, or the agent is not idle'),
})

/** The answers as the log of an agent has them. */
export const agentAnswer: z.ZodType<AgentAnswer> = z.discriminatedUnion('type', [
  started,
  admitted,
  resumeAnswer,
  stopped,
  z.strictObject({ type: z.literal('paused'), turn }),
  z.strictObject({ type: z.literal('already_paused') }),
  notifyAnswer,
  compactAnswer,
  rewoundAnswer,
  shutDownAnswer,
  editAnswer,
  removeAnswer,
  reorderAnswer,
  configureAnswer,
  allowAnswer,
  z.strictObject({ type: z.literal('limited'), turn }),
])
