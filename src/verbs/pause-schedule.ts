import * as z from 'zod'
import { reason } from './shapes/scalars.ts'
import { schedule, scheduleId } from './shapes/schedule.ts'
import { verb } from './verb.ts'

export const pauseSchedule = verb({
  summary: 'Pauses a schedule. Occurrences that run go on.',
  route: 'POST /schedules/{schedule}/pause',
  needs: 'operate',
  repeat: 'always',
  asPerson: 'if_known',
  input: () =>
    z.strictObject({ schedule: scheduleId, note: reason.exactOptional().describe('why, for its readers') }),
  output: () => schedule,
  codes: ['not_found', 'denied'],
})
