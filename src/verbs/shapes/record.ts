import * as z from 'zod'
import type { Actor, Outcome, ProcessRecord } from '../../core/process/record.ts'
import { amounts } from './allowance.ts'
import { heldBack } from './held-back.ts'
import { json, jsonObject } from './json.ts'
import { count, duration, time } from './scalars.ts'

export const kind = z.enum(['command', 'agent', 'workflow', 'tool', 'external'])
export const lifetime = z.enum(['turn', 'session', 'parent', 'daemon', 'detached'])
export const recovery = z.enum(['rerunnable', 'bound', 'external'])
export const placementRequest = z
  .string()
  .regex(/^(parent|(host|folder):[^\s]{1,200})$/, 'must be host:…, folder:… or parent')
const liveStatus = z.enum(['queued', 'running', 'waiting', 'paused', 'stopping'])
const endStatus = z.enum(['completed', 'failed', 'cancelled', 'abandoned'])
export const status = z.enum([...liveStatus.options, ...endStatus.options])
export const waitOn = z.enum(['child', 'signal', 'message', 'approval', 'timer', 'input'])
const stopHow = z.enum(['interrupt', 'cancel', 'kill'])
export const actor: z.ZodType<Actor> = z.custom<Actor>(
  (text) => typeof text === 'string' && /^(host|(session|process|kernel):.+)$/s.test(text),
  {
    message: 'must be host, session:…, process:… or kernel:…',
  },
)

const text = z.string().nullable()
const selectors = z.strictObject({
  session: z.string().optional(),
  turn: z.string().optional(),
  toolCall: z.string().optional(),
  terminal: z.string().optional(),
  extension: z.string().optional(),
  hook: z.string().optional(),
  sandbox: z.string().optional(),
  source: z.string().optional(),
})

export const eventType = z.strictObject({
  schema: jsonObject,
  end: z.enum(['completed', 'failed', 'cancelled']).exactOptional(),
  wake: z.boolean().exactOptional(),
  facet: z.string().min(1).max(100).exactOptional(),
})

const outcome = z.strictObject({
  status: endStatus,
  exitCode: z.number().int().nullable(),
  signal: text,
  reason: text,
  source: actor.nullable(),
  result: json,
  evidence: z
    .enum([
      ...(['keeper_lost', 'holder_dead', 'holder_drain', 'requested', 'identity_mismatch'] as const),
      ...(['process_gone', 'not_seen_to_stop'] as const),
    ])
    .nullable(),
  startedAt: time.nullable(),
  endedAt: time,
}) satisfies z.ZodType<Outcome>

const wait = z.strictObject({
  on: waitOn,
  name: z.string(),
  ordinal: count,
  since: time,
  until: time.nullable(),
  place: count.exactOptional(),
})

/** The fold of a process's events. */
const schema = z.strictObject({
  pid: z.string(),
  name: text,
  kind,
  spec: jsonObject,
  identity: z.strictObject({ label: z.string(), definition: json }),
  parent: text,
  root: z.string(),
  depth: count,
  restartOf: text,
  group: z
    .strictObject({ id: z.string(), scope: z.string().nullable(), index: count, size: count })
    .nullable(),
  owner: selectors,
  originator: actor,
  causedBy: jsonObject.nullable(),
  replyTo: json,
  lifetime,
  recovery,
  placement: text,
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
  status,
  pausedFrom: z.enum(['queued', 'running', 'waiting']).nullable(),
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
  awaitedBy: z.array(z.string()),
  journal: z.strictObject({ last: count, attempts: count }).nullable(),
  signals: z.record(z.string(), z.strictObject({ received: count, taken: count, pending: z.array(count) })),
  children: count,
  attempts: count,
  retryAt: time.nullable(),
  firstStarted: z.strictObject({ at: time, holder: z.string() }).nullable(),
  program: z
    .strictObject({
      osPid: count,
      startTime: text,
      boot: z.string(),
      group: count,
      tree: z.enum(['cgroup', 'marker']),
      memoryBy: z.enum(['cgroup', 'sampled']).nullable(),
    })
    .nullable(),
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
})

/** The schema has the fields that the type has; the compiler compares them. */
type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : never) : never
const fields: Same<keyof z.output<typeof schema>, keyof ProcessRecord> = true
void fields

/** As an answer the record has its own type: deep and read-only. */
export const record = schema as unknown as z.ZodType<ProcessRecord>

/** A record, and what is true of the process at this moment. */
export type ShownRecord = ProcessRecord & z.output<typeof momentary>
const momentary = z.strictObject({ heldBack })
export const shownRecord = schema.extend(momentary.shape) as unknown as z.ZodType<ShownRecord>
