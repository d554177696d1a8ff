import * as z from 'zod'
import { record } from './shapes/record.ts'
import { registration } from './shapes/registration.ts'
import { type RepeatKey, verb } from './verb.ts'

/** A pid that the caller chose makes a registration safe to repeat, too. */
export const spawnKey: RepeatKey = {
  keys: ['idempotencyKey', 'pid'],
  generated: 'always',
  answer: { member: 'type', replayed: 'existing', first: 'registered' },
}

export const spawn = verb({
  summary: 'Registers a process, and begins it if this kernel serves its kind.',
  description:
    'Idempotent by content: the same pid, or the same idempotency key, with the same request answers with the existing process.',
  route: 'POST /processes',
  needs: 'operate',
  repeat: spawnKey,
  idempotencyHeader: true,
  input: registration,
  output: z.strictObject({
    type: z.enum(['registered', 'existing', 'running']),
    record,
    warning: z
      .discriminatedUnion('code', [
        /** Names in `passEnv` without a variable. */
        z.strictObject({ code: z.literal('unknown_variables'), names: z.array(z.string()) }),
        /** The same command was started by the same owner moments ago. */
        z.strictObject({ code: z.literal('duplicate_of'), pid: z.string() }),
        /** Another live process has this name. The name refers to the new one from now on. */
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
