import * as z from 'zod'
import { count, pageSize } from './shapes/scalars.ts'
import { delivery, triggerId } from './shapes/trigger.ts'
import { verb } from './verb.ts'

export const deliveries = verb({
  summary: 'Lists what happened to a trigger, and what became of it, the newest first.',
  description: 'The last 1,000 deliveries are kept, and all that wait.',
  route: 'GET /triggers/{trigger}/deliveries',
  needs: 'read',
  input: () =>
    z.strictObject({
      trigger: triggerId,
      before: count.exactOptional().describe('only deliveries with a lower number'),
      limit: pageSize,
    }),
  output: () => z.strictObject({ deliveries: z.array(delivery) }),
  codes: ['not_found', 'denied'],
})
