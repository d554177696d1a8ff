import * as z from 'zod'
import { WAIT_LEFT_HOW } from '../../core/process/event.ts'
import { STEP_KINDS } from '../../core/process/step-event.ts'
import { isToolName } from '../../core/tool/declaration.ts'
import { json, jsonObject } from './json.ts'
import { messageFilter } from './message.ts'
import { record, recovery, reportedEnd, waitOn } from './record.ts'
import { registration } from './registration.ts'
import { count, eventTypeName, pageSize, replayKey, time } from './scalars.ts'

/** A program that serves workflows or tools over the wire. It chooses its id, and holds the leases that it claims. */
export const worker = z
  .string()
  .regex(/^w_[0-9a-f]{24}$/, 'must be w_ and 24 hex digits, made at random')
  .describe('the id of the worker')

const stepIndex = z.number().int().min(1).describe('the number of the step, from 1')
const tries = count.describe('how often it was tried')
const step = {
  stepIndex,
  kind: z.enum(STEP_KINDS),
  name: z.string().max(200).describe('the name of the step'),
}
const ended = { ...step, began: time.describe('when it began'), tries }
const error = z.string().describe('the message of the error')
const wait = z
  .strictObject({
    on: waitOn.extract(['child', 'signal', 'message', 'timer']).describe('the kind of the awaited event'),
    name: z.string().min(1).max(200).describe('the name that is waited for'),
    ordinal: z.number().int().min(1).describe('which wait for this name it is, from 1'),
    stepIndex: stepIndex.exactOptional(),
    filter: messageFilter.exactOptional(),
  })
  .describe('a wait of the process')

/** A write of a worker about a process that it holds. */
export const act = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('end_step'),
    step: z
      .discriminatedUnion('how', [
        z.strictObject({
          ...ended,
          how: z.literal('done').describe('how it ended'),
          value: json.exactOptional().describe('its encoded result'),
        }),
        z.strictObject({
          ...ended,
          how: z.literal('failed').describe('how it ended'),
          error,
          thrown: json.exactOptional().describe('the encoded error'),
        }),
      ])
      .describe('the step that ended'),
  }),
  z.strictObject({
    type: z.literal('retry_step'),
    step: z
      .strictObject({ ...step, tries, error, retryAt: time.describe('when it is tried again') })
      .describe('the step that failed'),
  }),
  z.strictObject({
    type: z.literal('enter_wait'),
    wait,
    until: time.nullable().describe('when the wait times out; null: never'),
  }),
  z.strictObject({
    type: z.literal('leave_wait'),
    wait,
    how: z.enum(WAIT_LEFT_HOW).extract(['due', 'ended', 'timed_out']).describe('how the wait ended'),
    value: json.describe('what the wait answered with'),
  }),
  z.strictObject({ type: z.literal('park'), waits: z.array(wait).max(1_000).describe('its open waits') }),
  z.strictObject({
    type: z.literal('spawn'),
    request: registration.describe('the child to register'),
    stepIndex,
  }),
  z.strictObject({
    type: z.literal('append'),
    event: eventTypeName.describe('an event type that the process declared'),
    payload: json.describe('its payload'),
    replayKey: replayKey.describe('the same key is the same event'),
  }),
  /** A child of a tool, which has no steps. */
  z.strictObject({
    type: z.literal('spawn_child'),
    request: registration.describe('the child to register'),
    number: z.number().int().min(1).describe('which child of the process it is, from 1'),
  }),
  z.strictObject({
    type: z.literal('end'),
    status: reportedEnd.describe('how the process ended'),
    reason: z.string().exactOptional().describe('the reason, as it is recorded'),
    result: json.exactOptional().describe('the result of the process'),
  }),
  z.strictObject({ type: z.literal('release') }),
  /** The process was asked to stop, and did not within its grace. */
  z.strictObject({ type: z.literal('give_up_stop') }),
  /** `key` asks for the one-shot key of a wait, `seed` for a secret that is the same in every attempt. */
  z.strictObject({ type: z.literal('key'), wait }),
  z.strictObject({ type: z.literal('seed') }),
  /** The environment as it is stored, with names of secrets and not their values. */
  z.strictObject({ type: z.literal('environment') }),
  /** A page of its journal, unmasked. */
  z.strictObject({
    type: z.literal('events'),
    after: count.describe('the seq to continue after'),
    limit: pageSize,
  }),
])

/** A worker repeats its announcement every few seconds, and each one is written to its row. */
const MAX_DECLARED_CHARS = 256 * 1024

/** A tool as its callers see it. */
export const toolDeclaration = z.strictObject({
  name: z
    .string()
    .refine(isToolName, 'must have 1 to 64 letters, digits, _ and -')
    .describe('by which it is called'),
  description: z.string().min(1).max(10_000).describe('what it does'),
  inputSchema: jsonObject.describe('the JSON Schema of its input'),
  recovery: recovery
    .extract(['bound', 'rerunnable'])
    .describe('what may follow when the program of a call is lost'),
})

export const toolDeclarations = z
  .array(toolDeclaration)
  .max(1_000)
  .refine(
    (tools) => JSON.stringify(tools).length <= MAX_DECLARED_CHARS,
    `must have at most ${MAX_DECLARED_CHARS} characters of JSON`,
  )

export const claimed = z.strictObject({ record, fence: count })
