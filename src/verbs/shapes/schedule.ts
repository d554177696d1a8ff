import * as z from 'zod'
import { END_STATUSES } from '../../core/process/status.ts'
import { OVERLAPS } from '../../core/schedule/schedule.ts'
import { actor } from './actor.ts'
import { jsonObject } from './json.ts'
import { occurrence } from './registration.ts'
import { age, count, duration, time } from './scalars.ts'

/** Also the last part of the name of its session. */
export const scheduleId = z
  .string()
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/,
    'must be letters, digits, dots, dashes and underscores, at most 100',
  )
  .describe('the name of a schedule')

const bounds = {
  start: time.exactOptional().describe('no occurrence is before it'),
  end: time.exactOptional().describe('no occurrence is after it'),
}

const zone = z.string().min(1).max(100).describe('an IANA time zone, like Europe/Berlin')

const everyMs = z.number().int().min(1_000).describe('the interval in milliseconds, from the start on')

/** When a schedule runs, as a caller gives it. */
const givenTimes = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('cron'),
    cron: z.string().min(1).max(200).describe('a cron expression of five fields, or six with seconds'),
    zone: zone.exactOptional().describe('the zone of the expression; that of the daemon by default'),
    ...bounds,
  }),
  z.strictObject({ type: z.literal('every'), everyMs, ...bounds }),
  z.strictObject({ type: z.literal('at'), at: time, ...bounds }),
])

const times = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('cron'), cron: z.string(), zone, ...bounds }),
  z.strictObject({ type: z.literal('every'), everyMs, ...bounds }),
  z.strictObject({ type: z.literal('at'), at: time, ...bounds }),
])

const overlap = z
  .enum(OVERLAPS)
  .describe(
    'at a time when the occurrence before still runs: skip it, queue it, keep the latest (bufferOne), cancel the one before (cancelOther), or allow both',
  )

/** The definition of a schedule; an edit gives some of these. */
export const definitionFields = {
  times: givenTimes.describe('when it runs'),
  process: occurrence.describe('the process of each occurrence'),
  jitterMs: duration
    .exactOptional()
    .describe('a delay of each occurrence, chosen at random, at most this long'),
  overlap: overlap.exactOptional(),
  catchUpMs: age
    .exactOptional()
    .describe(
      'how late an occurrence may start; an hour by default. Of several missed times the latest runs, once',
    ),
  pauseOnFailure: z.boolean().exactOptional().describe('pause when an occurrence fails'),
}

const occurrenceRef = { pid: z.string(), at: time.describe('its scheduled time') }

export const schedule = z.strictObject({
  id: z.string(),
  times,
  process: jsonObject.describe('the process of each occurrence'),
  jitterMs: count,
  overlap,
  catchUpMs: count,
  pauseOnFailure: z.boolean(),
  session: z.string().describe('the session that its occurrences belong to'),
  createdBy: actor.describe('the actor whose rights its occurrences have'),
  createdAt: time,
  editedAt: time,
  revision: count.describe('how often it was defined'),
  paused: z.strictObject({ at: time, by: actor, note: z.string().nullable() }).nullable(),
  next: z.strictObject(occurrenceRef).nullable().describe('the registered occurrence that has not started'),
  running: z.array(z.strictObject(occurrenceRef)),
  backfill: z
    .strictObject({ ...occurrenceRef, until: time })
    .nullable()
    .describe('the backfill that is under way'),
  last: z
    .strictObject({ ...occurrenceRef, status: z.enum(END_STATUSES) })
    .nullable()
    .describe('the occurrence that ended last'),
  counts: z.strictObject({ started: count, skipped: count, missed: count, failed: count }),
  upcoming: z.array(time).describe('its next times, computed'),
})
