import * as z from 'zod'
import { amounts } from './allowance.ts'
import { inherited } from './inherited.ts'
import { json, jsonObject } from './json.ts'
import { owner } from './owner.ts'
import { eventType, lifetime, placementRequest, recovery } from './record.ts'
import { duration, eventTypeName, folder, name, pid, replayKey, sessionId } from './scalars.ts'
import { specs } from './spec.ts'

const environmentRef = z.string().regex(/^[0-9a-f]{64}$/, 'must be the reference of an environment')

const common = {
  pid: pid
    .exactOptional()
    .describe('given by the caller: the same pid with the same request is the same process'),
  idempotencyKey: replayKey
    .exactOptional()
    .describe('the same key of the same caller with the same request is the same process'),
  name: name.exactOptional(),
  ifRunning: z
    .enum(['keep', 'replace'])
    .exactOptional()
    .describe(
      'if a process of this name lives in the same session, or outside of all: keep it and start none, or end it first',
    ),
  label: z.string().min(1).max(200).exactOptional(),
  definition: json.optional(),
  parent: pid.exactOptional(),
  restartOf: pid.exactOptional(),
  group: z
    .strictObject({
      id: z.string().min(1).max(200),
      size: z.number().int().min(1).max(1_000),
      index: z.number().int().nonnegative().exactOptional(),
    })
    .exactOptional()
    .describe('one notice when all of a group have ended'),
  owner: owner.exactOptional(),
  causedBy: jsonObject.exactOptional(),
  replyTo: json.optional(),
  lifetime: lifetime.exactOptional(),
  recovery: recovery.exactOptional(),
  placement: placementRequest
    .exactOptional()
    .describe(
      'where it is executed: host:<name>, folder:<id>, or parent; of a command: where it was asked for',
    ),
  envRef: environmentRef.exactOptional(),
  cwd: folder.exactOptional(),
  eventTypes: z.record(eventTypeName, eventType).exactOptional(),
  wakeTarget: sessionId.exactOptional(),
  limits: z
    .strictObject({
      attempts: z.number().int().min(1).max(1_000).exactOptional(),
      depth: z.number().int().min(0).max(64).exactOptional(),
      liveChildren: z.number().int().min(0).max(100_000).exactOptional(),
      runMs: duration
        .min(1)
        .exactOptional()
        .describe('how long it may run, of a command, tool or workflow; children inherit it'),
      memoryBytes: z
        .number()
        .int()
        .min(1_048_576)
        .exactOptional()
        .describe('of a command; children inherit it'),
    })
    .exactOptional(),
  allowance: amounts
    .exactOptional()
    .describe('what it and all below it may use; what is left out is half of what is left of its parent’s'),
  grants: z
    .array(z.strictObject({ session: sessionId, descriptor: json.optional() }))
    .max(100)
    .exactOptional(),
}

/** What is asked for at registration. `kind` decides which `spec` fits; unknown fields are errors. */
export const registration = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('command'),
    spec: specs.command,
    ...common,
    baseEnvRef: environmentRef
      .exactOptional()
      .describe('the environment if envRef names none; not part of what makes a request the same one'),
    secrets: z
      .record(z.string(), z.string())
      .exactOptional()
      .describe('values of names in spec.passEnv, instead of those of the base environment; in no record'),
    inherited: inherited
      .exactOptional()
      .describe('environment, umask and limits of the caller, for spec.inheritEnv; in no record'),
  }),
  z.strictObject({ kind: z.literal('agent'), spec: specs.agent, ...common }),
  z.strictObject({ kind: z.literal('workflow'), spec: specs.workflow, ...common }),
  z.strictObject({ kind: z.literal('tool'), spec: specs.tool, ...common }),
  z.strictObject({ kind: z.literal('external'), spec: specs.external, ...common }),
])
