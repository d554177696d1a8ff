import * as z from 'zod'
import { pageSize } from './shapes/scalars.ts'
import { schedule, scheduleId } from './shapes/schedule.ts'
import { verb } from './verb.ts'

export const schedules = verb({
  summary: 'Lists schedules, by name.',
  route: 'GET /schedules',
  needs: 'read',
  input: () =>
    z.strictObject({
      after: scheduleId.exactOptional().describe('the name to continue after'),
      limit: pageSize,
    }),
  output: () => z.strictObject({ schedules: z.array(schedule) }),
  codes: ['denied'],
})
