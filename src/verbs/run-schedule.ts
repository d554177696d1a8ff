import * as z from 'zod'
import { record } from './shapes/record.ts'
import { replayKey } from './shapes/scalars.ts'
import { scheduleId } from './shapes/schedule.ts'
import { type RepeatKey, verb } from './verb.ts'

const runKey: RepeatKey = { keys: ['idempotencyKey'], generated: 'always' }

export const runSchedule = verb({
  summary: 'Starts the process of a schedule now.',
  description: 'It runs besides the occurrences of the schedule, which go on as before.',
  route: 'POST /schedules/{schedule}/run',
  needs: 'operate',
  repeat: runKey,
  idempotencyHeader: true,
  input: () => z.strictObject({ schedule: scheduleId, idempotencyKey: replayKey.exactOptional() }),
  output: () => z.strictObject({ record: record.describe('the process') }),
  codes: [
    'not_found',
    'denied',
    'session_ended',
    'too_many_commands',
    'limit_exceeded',
    'conflict',
    'pruned_pid',
  ],
})
