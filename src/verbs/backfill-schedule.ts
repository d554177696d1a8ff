import * as z from 'zod'
import { BACKFILL_OVERLAPS } from '../core/schedule/schedule.ts'
import { time } from './shapes/scalars.ts'
import { schedule, scheduleId } from './shapes/schedule.ts'
import { verb } from './verb.ts'

export const backfillSchedule = verb({
  summary: 'Runs times of the past that a schedule did not run.',
  description: 'A time that was registered since the last edit of the schedule does not run again.',
  route: 'POST /schedules/{schedule}/backfill',
  needs: 'operate',
  input: () =>
    z.strictObject({
      schedule: scheduleId,
      from: time.describe('the first time, in milliseconds since 1970'),
      until: time.describe('the last time, in milliseconds since 1970'),
      overlap: z
        .enum(BACKFILL_OVERLAPS)
        .default('queue')
        .describe('queue: one after the other, at most 1,000; allow: all at once, at most 100'),
    }),
  output: () => schedule,
  codes: [
    'not_found',
    'denied',
    'busy',
    'limit_exceeded',
    'session_ended',
    'too_many_commands',
    'conflict',
    'pruned_pid',
  ],
})
