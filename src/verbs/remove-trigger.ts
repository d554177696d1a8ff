import * as z from 'zod'
import { triggerId } from './shapes/trigger.ts'
import { verb } from './verb.ts'

export const removeTrigger = verb({
  summary: 'Removes a trigger, with the deliveries that wait. Occurrences that run go on.',
  route: 'DELETE /triggers/{trigger}',
  needs: 'operate',
  input: () => z.strictObject({ trigger: triggerId }),
  output: () => z.strictObject({ removed: z.literal(true) }),
  codes: ['not_found', 'denied'],
})
