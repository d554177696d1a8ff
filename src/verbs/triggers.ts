import * as z from 'zod'
import { pageSize } from './shapes/scalars.ts'
import { trigger, triggerId } from './shapes/trigger.ts'
import { verb } from './verb.ts'

export const triggers = verb({
  summary: 'Lists triggers, by name.',
  route: 'GET /triggers',
  needs: 'read',
  input: () =>
    z.strictObject({
      after: triggerId.exactOptional().describe('the name to continue after'),
      limit: pageSize,
    }),
  output: () => z.strictObject({ triggers: z.array(trigger) }),
  codes: ['denied'],
})
