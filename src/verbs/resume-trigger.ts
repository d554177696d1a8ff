import * as z from 'zod'
import { trigger, triggerId } from './shapes/trigger.ts'
import { verb } from './verb.ts'

export const resumeTrigger = verb({
  summary:
    'Resumes a paused trigger. Deliveries that wait start; what happened during the pause starts nothing.',
  route: 'POST /triggers/{trigger}/resume',
  needs: 'operate',
  repeat: 'always',
  input: () => z.strictObject({ trigger: triggerId }),
  output: () => trigger,
  codes: ['not_found', 'denied', 'session_ended'],
})
