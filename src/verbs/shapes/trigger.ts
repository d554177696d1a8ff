import * as z from 'zod'
import { KINDS } from '../../core/process/record.ts'
import { END_STATUSES } from '../../core/process/status.ts'
import { OVERLAPS } from '../../core/schedule/schedule.ts'
import { VERDICTS } from '../../core/trigger/delivery.ts'
import { MAX_PAYLOAD_BYTES } from '../../core/trigger/occurrence-request.ts'
import { actor } from './actor.ts'
import { json, jsonObject } from './json.ts'
import { occurrence } from './registration.ts'
import { count, duration, folder, name, sessionId, time } from './scalars.ts'

/** Also the last part of the name of its session, and of the path of its webhook. */
export const triggerId = z
  .string()
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/,
    'must be letters, digits, dots, dashes and underscores, at most 100',
  )
  .describe('the name of a trigger')

const MAX_VALUES = 100
const DEBOUNCE_MS = 500
const MAX_BYTES = 64 * 1024
const MAX_PER_MINUTE = 1_200

const eventType = z.string().regex(/^[a-z][A-Za-z0-9_.-]{0,199}$/, 'must be the type of an event, like ended')

const eventFields = {
  type: z.literal('event'),
  on: z.array(eventType).min(1).max(MAX_VALUES).describe('types of events, like ended'),
  outcome: z.array(z.enum(END_STATUSES)).min(1).exactOptional().describe('how it ended, of the event ended'),
  kind: z.array(z.enum(KINDS)).min(1).exactOptional().describe('kinds of the process'),
  name: z.array(name).min(1).max(MAX_VALUES).exactOptional().describe('names of processes'),
  label: z
    .array(z.string().min(1).max(200))
    .min(1)
    .max(MAX_VALUES)
    .exactOptional()
    .describe('labels of the process'),
  session: sessionId.exactOptional().describe('processes of this session and of those below it'),
}

const glob = z
  .string()
  .min(1)
  .max(1_000)
  .regex(
    /^(?!\/)(?!(.*[/\\{,])?\.\.([/\\},]|$))[^\0]*$/,
    'must stay in the folder: without a leading slash, and without two dots as a folder',
  )
  .describe('a pattern relative to the folder, like data/*.csv')

const filesFields = { type: z.literal('files'), folder, glob }

const filter = z
  .record(z.string().min(1).max(200), z.union([z.string().max(1_000), z.number(), z.boolean(), z.null()]))
  .refine((members) => Object.keys(members).length <= MAX_VALUES, `must have at most ${MAX_VALUES} members`)
  .describe('members of the body, by path like repository.name, and the values that they must have')

const maxBytes = z.number().int().min(1).max(MAX_PAYLOAD_BYTES).describe('of a body')
const maxPerMinute = z.number().int().min(1).max(60_000).describe('deliveries that are accepted in a minute')

/** What starts it, as a caller gives it. */
const givenSource = z.discriminatedUnion('type', [
  z.strictObject(eventFields),
  z.strictObject({
    ...filesFields,
    debounceMs: duration.default(DEBOUNCE_MS).describe('how long the files must rest before it starts'),
  }),
  z.strictObject({
    type: z.literal('webhook'),
    filter: filter.default({}),
    maxBytes: maxBytes.default(MAX_BYTES),
    maxPerMinute: maxPerMinute.default(MAX_PER_MINUTE),
  }),
])

const source = z.discriminatedUnion('type', [
  z.strictObject(eventFields),
  z.strictObject({
    ...filesFields,
    debounceMs: count,
    place: z.string().nullable().describe('the host that has the folder'),
  }),
  z.strictObject({
    type: z.literal('webhook'),
    filter: jsonObject,
    maxBytes: count,
    maxPerMinute: count,
    path: z.string().describe('where its requests go, at the address of the daemon'),
  }),
])

const overlap = z
  .enum(OVERLAPS)
  .describe(
    'when something happens while an occurrence runs: queue it (the default), skip it, keep the latest (bufferOne), cancel the one before (cancelOther), or allow both',
  )

/** The definition of a trigger; an edit gives some of these. */
export const triggerFields = {
  source: givenSource.describe('what starts it'),
  process: occurrence.describe('the process of each occurrence'),
  overlap: overlap.exactOptional(),
  pauseOnFailure: z.boolean().exactOptional().describe('pause when an occurrence fails'),
}

const occurrenceRef = { pid: z.string(), at: time.describe('when it happened') }

export const trigger = z.strictObject({
  id: z.string(),
  source,
  process: jsonObject.describe('the process of each occurrence'),
  overlap,
  pauseOnFailure: z.boolean(),
  session: z.string().describe('the session that its occurrences belong to'),
  createdBy: actor.describe('the actor whose rights its occurrences have'),
  createdAt: time,
  editedAt: time,
  revision: count.describe('how often it was defined'),
  paused: z.strictObject({ at: time, by: actor, note: z.string().nullable() }).nullable(),
  running: z.array(z.strictObject({ pid: z.string(), at: time })),
  queued: count.describe('deliveries that wait'),
  last: z
    .strictObject({ ...occurrenceRef, status: z.enum(END_STATUSES) })
    .nullable()
    .describe('the occurrence that ended last'),
  counts: z.strictObject({
    started: count,
    filtered: count,
    skipped: count,
    duplicates: count.describe('deliveries that were repeated, and did nothing'),
    failed: count,
  }),
})

/** The secret of a webhook is in the answer that makes it, and in no other. */
export const changedTrigger = z.strictObject({
  trigger,
  secret: z
    .string()
    .nullable()
    .describe('of a webhook that was made just now: what its requests are signed with. It is shown once'),
})

export const delivery = z.strictObject({
  number: count,
  id: z.string().describe('event:<position>, files:<number>:<hash>, or webhook:<id of the sender>'),
  at: time,
  verdict: z.enum(VERDICTS),
  reason: z.string().nullable().describe('of a rejected one; it stands for all of that minute'),
  pid: z.string().nullable().describe('its process, or the one that it will have'),
})

export const testBody = json.describe('the body of a test delivery')
