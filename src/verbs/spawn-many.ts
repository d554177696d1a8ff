import * as z from 'zod'
import { record } from './shapes/record.ts'
import { registration } from './shapes/registration.ts'
import { verb } from './verb.ts'

/** In one transaction: all of them, or none. A later request may name an earlier one as its parent, if that one was given a pid. */
export const spawnMany = verb({
  summary: 'Registers many processes at once.',
  input: z.strictObject({ processes: z.array(registration).min(1).max(10_000) }),
  output: z.strictObject({
    processes: z.array(z.strictObject({ type: z.enum(['registered', 'existing']), record })),
  }),
  codes: [
    'conflict',
    'pruned_pid',
    'payload_too_large',
    'unknown_pid',
    'already_ended',
    'stopping',
    'session_unknown',
    'session_ended',
    'turn_unknown',
    'turn_ended',
    'lifetime_without_scope',
    'environment_unknown',
    'environment_forbidden',
    'depth_exceeded',
    'group_conflict',
    'denied',
  ],
})
