import * as z from 'zod'
import { record } from './shapes/record.ts'
import { registration } from './shapes/registration.ts'
import { verb } from './verb.ts'

/** Idempotent by content: the same pid, or the same idempotency key, with the same request answers with the process there is. */
export const spawn = verb({
  summary: 'Registers a process, and begins it if this kernel serves its kind.',
  route: 'POST /processes',
  needs: 'operate',
  input: registration,
  output: z.strictObject({
    type: z.enum(['registered', 'existing', 'running']),
    record,
    warning: z
      .discriminatedUnion('code', [
        /** Of `passEnv`: there are no such variables. */
        z.strictObject({ code: z.literal('unknown_variables'), names: z.array(z.string()) }),
        /** The same command was started by the same owner moments ago. */
        z.strictObject({ code: z.literal('duplicate_of'), pid: z.string() }),
        /** A process that lives has this name already: from now on it means the new one. */
        z.strictObject({ code: z.literal('name_in_use'), pid: z.string() }),
      ])
      .exactOptional(),
  }),
  codes: [
    'conflict',
    'name_in_use',
    'survived',
    'not_ours',
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
    'too_many_commands',
    'limit_exceeded',
  ],
})
