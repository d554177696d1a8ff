import * as z from 'zod'
import { occurrenceCodes } from './shapes/codes.ts'
import { changedTrigger, triggerFields, triggerId } from './shapes/trigger.ts'
import { verb } from './verb.ts'

export const addTrigger = verb({
  summary:
    'Adds a trigger: a process that starts on events of processes, changes of files, or requests to a webhook.',
  description:
    'Adding it again with the same definition changes nothing. Each occurrence is a process in the session `trigger:<name>`, with the rights that the caller has now. Its pid follows from the trigger and what happened, so each delivery runs once, also with several daemons. What happened is in the variable `REEVE_TRIGGER` of a command, in the member `trigger` of the input of a workflow or tool, and behind the goal of an agent.',
  route: 'PUT /triggers/{trigger}',
  needs: 'operate',
  asPerson: 'if_known',
  // The secret of a webhook is shown to the caller that makes it.
  masking: 'none',
  input: () => z.strictObject({ trigger: triggerId, ...triggerFields }),
  output: () => changedTrigger,
  codes: [
    'conflict',
    'denied',
    'not_available',
    'session_unknown',
    'session_ended',
    'limit_exceeded',
    'payload_too_large',
    ...occurrenceCodes,
  ],
})
