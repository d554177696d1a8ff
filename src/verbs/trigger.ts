import * as z from 'zod'
import { trigger as shape, triggerId } from './shapes/trigger.ts'
import { verb } from './verb.ts'

export const trigger = verb({
  summary: 'Shows one trigger.',
  route: 'GET /triggers/{trigger}',
  needs: 'read',
  input: () => z.strictObject({ trigger: triggerId }),
  output: () => shape,
  codes: ['not_found', 'denied'],
})
