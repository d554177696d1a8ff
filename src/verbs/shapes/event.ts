import * as z from 'zod'
import { COUNTED } from '../../core/allowance/amounts.ts'
import {
  APPROVAL_SETTLED_HOW,
  isReserved,
  READY_BY,
  type ReservedEvent,
  type TypedEvent,
  WAIT_LEFT_HOW,
} from '../../core/process/event.ts'
import { EVIDENCES, STOPS } from '../../core/process/record.ts'
import { STEP_KINDS } from '../../core/process/step-event.ts'
import { actor, scopeText } from './actor.ts'
import { agentPayloads } from './agent-event.ts'
import { json, jsonObject } from './json.ts'
import { messageFilter, messageMembers } from './message.ts'
import { objectPayloads } from './object.ts'
import { gap } from './output.ts'
import { eachSelector } from './owner.ts'
import { kind, outcome, program, registered, waitOn } from './record.ts'
import { count, duration, time } from './scalars.ts'
import { scriptSnapshot } from './script.ts'

const envelope = {
  position: count,
  pid: z.string(),
  seq: count,
  at: time,
  actor,
  replayKey: z.string().nullable(),
}

const stepIndex = count
const step = { stepIndex, kind: z.enum(STEP_KINDS), name: z.string(), tries: count }
const wait = { on: waitOn, name: z.string(), ordinal: count, stepIndex: stepIndex.exactOptional() }
const watch = { watch: z.string(), wanted: z.string(), end: count, heldBack: count }
const readiness = { by: z.enum(READY_BY), detail: z.string() }
const source = z.strictObject({ source: actor })

type Payloads = {
  readonly [Event in ReservedEvent as Event['type']]: z.ZodType<Event['payload']>
}

/** The payload of each reserved event. The compiler checks that none is missing and that each fits its type. */
const reservedPayloads = (): Omit<Payloads, `signal.${string}`> => ({
  registered,
  child_registered: z.strictObject({
    pid: z.string(),
    kind,
    label: z.string(),
    stepIndex: stepIndex.exactOptional(),
    seat: z.strictObject({ group: z.string(), size: count, index: count }).exactOptional(),
  }),
  postponed: z.strictObject({ until: time }),
  started: z.strictObject({ holder: z.string(), attempt: count }),
  program_started: program,
  taken_over: z.strictObject({ from: z.string(), holder: z.string() }),
  holder_lost: z.strictObject({ holder: z.string(), evidence: z.enum(EVIDENCES), retryAt: time }),
  released: z.strictObject({ holder: z.string() }),
  parked: z.strictObject({
    holder: z.string(),
    until: time.nullable(),
    snapshot: scriptSnapshot.exactOptional(),
  }),
  awaited: z.strictObject({ by: z.string() }),
  step_ended: z.discriminatedUnion('how', [
    z.strictObject({ ...step, began: time, how: z.literal('done'), value: json.exactOptional() }),
    z.strictObject({
      ...step,
      began: time,
      how: z.literal('failed'),
      error: z.string(),
      thrown: json.exactOptional(),
    }),
  ]),
  step_tried: z.strictObject({ ...step, error: z.string(), retryAt: time }),
  approval_requested: z.strictObject({
    approval: z.string(),
    actionHash: z.string(),
    expiresAt: time.nullable(),
    again: z.literal(true).exactOptional(),
  }),
  approval_settled: z.strictObject({
    approval: z.string(),
    how: z.enum(APPROVAL_SETTLED_HOW),
    by: actor,
    actionHash: z.string().exactOptional(),
    spec: jsonObject.exactOptional(),
    advice: z.string().exactOptional(),
  }),
  paused: source,
  resumed: source,
  stop_requested: z.strictObject({
    how: z.enum(STOPS),
    reason: z.string(),
    source: actor,
    cause: z.string().nullable(),
    graceMs: duration.exactOptional(),
  }),
  stop_delivered: z.strictObject({ how: z.enum(STOPS), by: z.enum(['signal', 'callback']) }),
  wait_entered: z.strictObject({
    ...wait,
    until: time.nullable(),
    filter: messageFilter.exactOptional(),
    again: z.literal(true).exactOptional(),
  }),
  wait_left: z.strictObject({
    ...wait,
    how: z.enum(WAIT_LEFT_HOW),
    signalSeq: count.nullable(),
    messageSeq: count.exactOptional(),
    value: json,
  }),
  message_received: z.strictObject({ ...messageMembers, taken: z.boolean() }),
  message_sent: z.strictObject({ ...messageMembers, to: scopeText }),
  reowned: z.strictObject({
    owner: z.strictObject(eachSelector(z.string().exactOptional())),
    sessionsAbove: z.array(z.string()).exactOptional(),
  }),
  cwd_changed: z.strictObject({ cwd: z.string() }),
  ...objectPayloads(),
  abandon_requested: z.strictObject({ reason: z.string(), source: actor }),
  external_ref_set: z.strictObject({ ref: json }),
  wake_target_cleared: z.strictObject({ session: z.string() }),
  watch_matched: z.strictObject({
    ...watch,
    offset: count,
    lines: z.array(z.string()),
    more: count,
    missed: gap.nullable(),
    strikes: count,
    told: z.enum(['match', 'tripped', 'held']),
  }),
  watch_disabled: z.strictObject(watch),
  ready: z.strictObject({ ...readiness, own: z.boolean().exactOptional() }),
  ready_timed_out: z.strictObject({ ...readiness, timeoutMs: duration, last: z.string().exactOptional() }),
  heartbeat: z.strictObject({ outputBytes: count, newBytes: count }),
  limit_near: z.strictObject({
    limit: z.enum(COUNTED),
    given: z.number(),
    spent: z.number(),
    carved: z.number(),
  }),
  ...agentPayloads(),
  revealed: z.strictObject({ source: actor, verb: z.string() }),
  ended: outcome,
})

function eventOf(type: string, payload: z.ZodType) {
  return z.strictObject({ ...envelope, type: z.literal(type), payload })
}

function reservedEvent() {
  const { ended, ...others } = reservedPayloads()
  return z.discriminatedUnion('type', [
    eventOf('ended', ended),
    ...Object.entries(others).map(([type, payload]) => eventOf(type, payload)),
  ])
}

const namedSignal = z.strictObject({
  ...envelope,
  type: z.templateLiteral(['signal.', z.string()]),
  payload: z.strictObject({ id: z.string(), value: json }),
})

/** An event of a type that its process declared. */
const declared = z.strictObject({
  ...envelope,
  type: z.string().refine((type) => !isReserved(type), 'must not be a reserved type'),
  payload: json,
})

/** `type` decides which payload an event has. Made when it is first used: it is large, and only few programs check events. */
export const storedEvent = z.lazy(() =>
  z.union([reservedEvent(), namedSignal, declared]),
) as z.ZodType<TypedEvent>
