import * as z from 'zod'
import { occurrenceCodes } from './shapes/codes.ts'
import { definitionFields, schedule, scheduleId } from './shapes/schedule.ts'
import { verb } from './verb.ts'

export const addSchedule = verb({
  summary: 'Adds a schedule: a process that runs at certain times.',
  description:
    'Adding it again with the same definition changes nothing. Each occurrence is a process in the session `schedule:<name>`, with the rights that the caller has now. Its pid follows from the schedule and the scheduled time, so each time runs once, also with several daemons.',
  route: 'PUT /schedules/{schedule}',
  needs: 'operate',
  repeat: 'always',
  asPerson: 'if_known',
  input: () => z.strictObject({ schedule: scheduleId, ...definitionFields }),
  output: () => schedule,
  codes: [
    'conflict',
    'denied',
    'session_unknown',
    'session_ended',
    'limit_exceeded',
    'payload_too_large',
    ...occurrenceCodes,
  ],
})
