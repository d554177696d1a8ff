import * as z from 'zod'
import { scheduleId, schedule as shape } from './shapes/schedule.ts'
import { verb } from './verb.ts'

export const schedule = verb({
  summary: 'Shows one schedule.',
  route: 'GET /schedules/{schedule}',
  needs: 'read',
  input: () => z.strictObject({ schedule: scheduleId }),
  output: () => shape,
  codes: ['not_found', 'denied'],
})
