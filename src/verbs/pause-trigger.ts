import * as z from 'zod'
import { reason } from './shapes/scalars.ts'
import { trigger, triggerId } from './shapes/trigger.ts'
import { verb } from './verb.ts'

export const pauseTrigger = verb({
  summary: 'Pauses a trigger. Occurrences that run go on, and deliveries that wait stay.',
  route: 'POST /triggers/{trigger}/pause',
  needs: 'operate',
  repeat: 'always',
  asPerson: 'if_known',
  input: () =>
    z.strictObject({ trigger: triggerId, note: reason.exactOptional().describe('why, for its readers') }),
  output: () => trigger,
  codes: ['not_found', 'denied'],
})
