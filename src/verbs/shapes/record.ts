import * as z from 'zod'
import { GATE_STATES } from '../../core/process/gate.ts'
import {
  EVIDENCES,
  KINDS,
  LIFETIMES,
  type Outcome,
  type ProcessRecord,
  RECOVERIES,
  type Registration,
  STOPS,
} from '../../core/process/record.ts'
import { END_STATUSES, LIVE_STATUSES, PAUSED_FROM, REPORTED_ENDS } from '../../core/process/status.ts'
import { WAITS } from '../../core/process/wait.ts'
import { actor, scopeText } from './actor.ts'
import { agentState } from './agent.ts'
import { amounts } from './allowance.ts'
import { heldBack } from './held-back.ts'
import { json, jsonObject } from './json.ts'
import { messageFilter } from './message.ts'
import { eachSelector } from './owner.ts'
import { storedRule } from './rule.ts'
import { count, duration, time } from './scalars.ts'
import { scriptSnapshot } from './script.ts'
import { storedSpecs } from './spec.ts'
import { view } from './view.ts'

export const kind = z.enum(KINDS)
export const lifetime = z.enum(LIFETIMES)
export const recovery = z.enum(RECOVERIES)
export const placementRequest = z
  .string()
  .regex(/^(parent|(host|folder):[^\s]{1,200})$/, 'must be host:…, folder:… or parent')
export const status = z.enum([...LIVE_STATUSES, ...END_STATUSES])
/** How a caller or an executor may say that a process ended. */
export const reportedEnd = z.enum(REPORTED_ENDS)
export const waitOn = z.enum(WAITS)
const stopHow = z.enum(STOPS)
const text = z.string().nullable()
export const eventType = z.strictObject({
  schema: jsonObject.describe('JSON Schema of the payload'),
  end: reportedEnd.exactOptional().describe('an event of this type ends the process'),
  wake: z.boolean().exactOptional().describe('an event of this type is a notice to the wake target'),
  facet: z.string().min(1).max(100).exactOptional().describe('the facet that the payload becomes'),
})

export const outcome = z.strictObject({
  status: z.enum(END_STATUSES),
  exitCode: z.number().int().nullable(),
  signal: text,
  reason: text,
  source: actor.nullable(),
  result: json,
  evidence: z.enum(EVIDENCES).nullable(),
  startedAt: time.nullable(),
  endedAt: time,
}) satisfies z.ZodType<Outcome>

const wait = z.strictObject({
  on: waitOn,
  name: z.string(),
  ordinal: count,
  since: time,
  until: time.nullable(),
  stepIndex: count.exactOptional(),
  filter: messageFilter.exactOptional(),
})

export const program = z.strictObject({
  osPid: count,
  startTime: text,
  boot: z.string(),
  group: count,
  tree: z.enum(['cgroup', 'marker']),
  memoryBy: z.enum(['cgroup', 'sampled']).nullable(),
})

/** The fields of a registration, apart from the kind and the spec. */
const registeredFields = {
  pid: z.string(),
  name: text,
  parent: text,
  root: z.string(),
  depth: count,
  restartOf: text,
  group: z
    .strictObject({ id: z.string(), scope: scopeText.nullable(), index: count, size: count })
    .nullable(),
  owner: z.strictObject(eachSelector(z.string().exactOptional())),
  originator: actor,
  causedBy: jsonObject.nullable(),
  replyTo: json,
  lifetime,
  recovery,
  placement: z.templateLiteral([z.enum(['host', 'folder']), ':', z.string()]).nullable(),
  envRef: text,
  cwd: text,
  eventTypes: z.record(z.string(), eventType),
  registrationHash: z.string(),
  wakeTarget: text,
  limits: z.strictObject({
    attempts: count,
    depth: count,
    liveChildren: count.exactOptional(),
    runMs: count.exactOptional(),
    memoryBytes: count.exactOptional(),
    allowance: amounts.exactOptional(),
  }),
  ceilings: z.array(z.strictObject({ givenTo: z.string(), rules: z.array(storedRule) })).exactOptional(),
  sessionsAbove: z.array(z.string()).exactOptional(),
  view: view.exactOptional(),
  actsFor: actor.exactOptional(),
  ruledOn: z
    .strictObject({
      hash: z.string(),
      uses: z.array(z.strictObject({ subject: z.string(), id: z.string() })).exactOptional(),
    })
    .exactOptional(),
}

/** The fold of a process's events, apart from the kind and the spec. */
const fields = {
  ...registeredFields,
  identity: z.strictObject({ label: z.string(), definition: json }),
  status,
  pausedFrom: z.enum(PAUSED_FROM).nullable(),
  stopRequest: z
    .strictObject({
      how: stopHow,
      reason: z.string(),
      source: actor,
      cause: text,
      graceMs: duration.exactOptional(),
      at: time,
      deliveredAt: time.exactOptional(),
    })
    .nullable(),
  wait: wait.nullable(),
  moreWaits: z.array(wait),
  parked: z.boolean(),
  snapshot: scriptSnapshot.exactOptional(),
  awaitedBy: z.array(z.string()),
  journal: z.strictObject({ last: count, attempts: count }).nullable(),
  agent: agentState.nullable(),
  gate: z
    .strictObject({
      approval: z.string(),
      actionHash: z.string(),
      state: z.enum(GATE_STATES),
      expiresAt: time.nullable(),
    })
    .nullable(),
  effectiveSpec: jsonObject.nullable(),
  signals: z.record(z.string(), z.strictObject({ received: count, taken: count, pending: z.array(count) })),
  children: count,
  attempts: count,
  retryAt: time.nullable(),
  firstStarted: z.strictObject({ at: time, holder: z.string() }).nullable(),
  program: program.nullable(),
  watches: z.record(
    z.string(),
    z.strictObject({ scannedTo: count, toldAt: time.nullable(), strikes: count, disabled: z.boolean() }),
  ),
  readiness: z.strictObject({ at: time, ready: z.boolean() }).nullable(),
  abandonRequest: z.strictObject({ reason: z.string(), source: actor, at: time }).nullable(),
  externalRef: json,
  outcome: outcome.nullable(),
  facets: z.record(z.string(), json),
  revision: count,
  createdAt: time,
  updatedAt: time,
}

/** A record, and facts about the process that hold only at this moment. */
export type ShownRecord = ProcessRecord & z.output<typeof momentary>
const momentary = z.strictObject({ heldBack })

/** `kind` decides which spec there is. */
function perKind<Shape extends z.ZodRawShape>(shape: Shape) {
  return z.discriminatedUnion('kind', [
    z.strictObject({ ...shape, kind: z.literal('command'), spec: storedSpecs.command }),
    z.strictObject({ ...shape, kind: z.literal('agent'), spec: storedSpecs.agent }),
    z.strictObject({ ...shape, kind: z.literal('workflow'), spec: storedSpecs.workflow }),
    z.strictObject({ ...shape, kind: z.literal('tool'), spec: storedSpecs.tool }),
    z.strictObject({ ...shape, kind: z.literal('external'), spec: storedSpecs.external }),
  ])
}

export const record: z.ZodType<ProcessRecord> = perKind(fields)
export const shownRecord: z.ZodType<ShownRecord> = perKind({ ...fields, ...momentary.shape })
/** The payload of the event `registered`. */
export const registered: z.ZodType<Registration> = perKind({
  ...registeredFields,
  label: z.string(),
  definition: json,
})
