import * as z from 'zod'
import { amounts } from './allowance.ts'
import { inherited } from './inherited.ts'
import { json, jsonObject } from './json.ts'
import { owner } from './owner.ts'
import { eventType, lifetime, placementRequest, recovery } from './record.ts'
import { ruleJson } from './rule.ts'
import { duration, eventTypeName, folder, name, pid, replayKey, sessionId } from './scalars.ts'
import { specs } from './spec.ts'

const environmentRef = z.string().regex(/^[0-9a-f]{64}$/, 'must be the reference of an environment')

/** How a caller recognises the process that it registers, also when it repeats the request. */
export const recognised = {
  pid: pid
    .exactOptional()
    .describe('chosen by the caller: the same pid with the same request is the same process'),
  idempotencyKey: replayKey
    .exactOptional()
    .describe('the same key of the same caller with the same request is the same process'),
  name: name.exactOptional(),
}

/** Why the caller wants what it asks for. */
export const askerReason = z
  .string()
  .min(1)
  .max(2_000)
  .describe('why you want this, for the person who is asked; kept with the request alone')

const common = {
  ...recognised,
  reason: askerReason.exactOptional(),
  ifRunning: z
    .enum(['keep', 'replace'])
    .exactOptional()
    .describe(
      'if a live process of the same session, or outside of all sessions, has this name: keep it and start none, or end it first',
    ),
  label: z.string().min(1).max(200).exactOptional().describe('a name for people'),
  definition: json.optional().describe('what it is an instance of, for filters'),
  parent: pid.exactOptional().describe('the pid of its parent'),
  restartOf: pid.exactOptional().describe('the pid of the process that it restarts'),
  group: z
    .strictObject({
      id: z.string().min(1).max(200).describe('the id of the group'),
      size: z.number().int().min(1).max(1_000).describe('how many processes the group has'),
      index: z.number().int().nonnegative().exactOptional().describe('its index in the group'),
    })
    .exactOptional()
    .describe('one notice when all processes of the group have ended'),
  owner: owner.exactOptional().describe('the scope that it belongs to'),
  causedBy: jsonObject.exactOptional().describe('what caused it, as it is recorded'),
  replyTo: json.optional().describe('copied to its notices, for the reader'),
  lifetime: lifetime.exactOptional().describe('when this ends, the process is stopped'),
  recovery: recovery.exactOptional().describe('what may follow when its holder is lost'),
  placement: placementRequest
    .exactOptional()
    .describe(
      'where it is executed: host:<name>, folder:<id>, or parent; by default anywhere, and for a command where it was requested',
    ),
  envRef: environmentRef.exactOptional().describe('its execution environment'),
  cwd: folder.exactOptional(),
  eventTypes: z.record(eventTypeName, eventType).exactOptional().describe('the event types that it declares'),
  wakeTarget: sessionId.exactOptional().describe('the session that gets its notices'),
  limits: z
    .strictObject({
      attempts: z
        .number()
        .int()
        .min(1)
        .max(1_000)
        .exactOptional()
        .describe('how often it may be begun when its holders die'),
      depth: z
        .number()
        .int()
        .min(0)
        .max(64)
        .exactOptional()
        .describe('how deep its tree may grow, from the root'),
      liveChildren: z
        .number()
        .int()
        .min(0)
        .max(100_000)
        .exactOptional()
        .describe('how many of its children may live at once, tools not counted; children inherit it'),
      runMs: duration
        .min(1)
        .exactOptional()
        .describe('how long a command, tool or workflow may run, in milliseconds; children inherit it'),
      memoryBytes: z
        .number()
        .int()
        .min(1_048_576)
        .exactOptional()
        .describe('how much memory a command may use; children inherit it'),
    })
    .exactOptional()
    .describe('limits of the process and its children'),
  allowance: amounts
    .exactOptional()
    .describe('what it and its descendants may use; a missing name gets half of what its parent has left'),
  ceiling: z
    .strictObject({
      rules: z.array(ruleJson).max(100).describe('rules as those of addRule, without limits of use'),
    })
    .exactOptional()
    .describe(
      'the most that it and everything below it may do: everything that these rules do not allow is denied, also to later grants',
    ),
  grants: z
    .array(
      z.strictObject({ session: sessionId, descriptor: json.optional().describe('stored with the grant') }),
    )
    .max(100)
    .exactOptional()
    .describe('sessions that may see it'),
}

/** The fields of an occurrence's registration that are the same each time. */
const occurrenceFields = {
  label: common.label,
  definition: common.definition,
  replyTo: common.replyTo,
  lifetime: common.lifetime,
  recovery: common.recovery,
  placement: common.placement,
  envRef: common.envRef,
  cwd: common.cwd,
  eventTypes: common.eventTypes,
  wakeTarget: common.wakeTarget,
  limits: common.limits,
  allowance: common.allowance,
  ceiling: common.ceiling,
  reason: common.reason,
}

/** The process of a schedule: a request without the members that belong to one process. */
export const occurrence = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('command'),
    spec: specs.command.describe('what to run'),
    ...occurrenceFields,
  }),
  z.strictObject({
    kind: z.literal('agent'),
    spec: specs.agent.describe('what to run'),
    ...occurrenceFields,
  }),
  z.strictObject({
    kind: z.literal('workflow'),
    spec: specs.workflow.describe('what to run'),
    ...occurrenceFields,
  }),
  z.strictObject({ kind: z.literal('tool'), spec: specs.tool.describe('what to run'), ...occurrenceFields }),
])

/** A request for a process. `kind` decides which `spec` fits; unknown fields are errors. */
export const registration = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('command'),
    spec: specs.command.describe('what to run'),
    ...common,
    baseEnvRef: environmentRef
      .exactOptional()
      .describe('the environment if envRef names none; requests that differ in it only are the same'),
    secrets: z
      .record(z.string(), z.string())
      .exactOptional()
      .describe(
        'values for names in spec.passEnv, instead of those of the base environment; stored in no record',
      ),
    inherited: inherited
      .exactOptional()
      .describe('environment, umask and limits of the caller, for spec.inheritEnv; stored in no record'),
  }),
  z.strictObject({ kind: z.literal('agent'), spec: specs.agent.describe('what to run'), ...common }),
  z.strictObject({ kind: z.literal('workflow'), spec: specs.workflow.describe('what to run'), ...common }),
  z.strictObject({ kind: z.literal('tool'), spec: specs.tool.describe('what to run'), ...common }),
  z.strictObject({ kind: z.literal('external'), spec: specs.external.describe('what to run'), ...common }),
])
