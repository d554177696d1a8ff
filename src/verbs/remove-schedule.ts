import * as z from 'zod'
import { scheduleId } from './shapes/schedule.ts'
import { verb } from './verb.ts'

export const removeSchedule = verb({
  summary: 'Removes a schedule. Occurrences that run go on.',
  route: 'DELETE /schedules/{schedule}',
  needs: 'operate',
  input: () => z.strictObject({ schedule: scheduleId }),
  output: () => z.strictObject({ removed: z.literal(true) }),
  codes: ['not_found', 'denied'],
})
