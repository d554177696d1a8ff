import * as z from 'zod'
import { occurrenceCodes } from './shapes/codes.ts'
import { changedTrigger, triggerFields, triggerId } from './shapes/trigger.ts'
import { verb } from './verb.ts'

export const editTrigger = verb({
  summary: 'Changes the definition of a trigger, or the secret of its webhook.',
  description:
    'What runs goes on as it was; deliveries that wait run as edited. With another process the occurrences have the rights of the caller from now on; without one, a session or a process is bound by its own rules besides. Another source begins anew: it starts nothing for the past.',
  route: 'POST /triggers/{trigger}/edit',
  needs: 'operate',
  asPerson: 'if_known',
  masking: 'none',
  input: () =>
    z.strictObject({
      trigger: triggerId,
      ...triggerFields,
      source: triggerFields.source.exactOptional(),
      process: triggerFields.process.exactOptional(),
      rotateSecret: z
        .boolean()
        .exactOptional()
        .describe('of a webhook: make another secret; the old one is no longer accepted'),
    }),
  output: () => changedTrigger,
  codes: ['denied', 'not_available', 'session_ended', 'payload_too_large', ...occurrenceCodes],
})
