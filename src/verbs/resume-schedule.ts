import * as z from 'zod'
import { schedule, scheduleId } from './shapes/schedule.ts'
import { verb } from './verb.ts'

export const resumeSchedule = verb({
  summary: 'Resumes a paused schedule. Times that passed meanwhile do not run.',
  route: 'POST /schedules/{schedule}/resume',
  needs: 'operate',
  repeat: 'always',
  input: () => z.strictObject({ schedule: scheduleId }),
  output: () => schedule,
  codes: ['not_found', 'denied', 'session_ended'],
})
