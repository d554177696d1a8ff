import * as z from 'zod'
import { occurrenceCodes } from './shapes/codes.ts'
import { definitionFields, schedule, scheduleId } from './shapes/schedule.ts'
import { verb } from './verb.ts'

export const editSchedule = verb({
  summary: 'Changes the definition of a schedule.',
  description:
    'What runs goes on as it was. An occurrence that has not started is replaced; if its time has come already, it runs as edited. With another process the occurrences have the rights of the caller from now on; without one, a session or a process is bound by its own rules besides.',
  route: 'POST /schedules/{schedule}/edit',
  needs: 'operate',
  asPerson: 'if_known',
  input: () =>
    z.strictObject({
      schedule: scheduleId,
      ...definitionFields,
      times: definitionFields.times.exactOptional(),
      process: definitionFields.process.exactOptional(),
    }),
  output: () => schedule,
  codes: ['denied', 'session_ended', 'payload_too_large', ...occurrenceCodes],
})
