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
  input: () => registration,
  output: () =>
    z.strictObject({
      type: z
        .enum(['registered', 'existing', 'running'])
        .describe(
          'registered: it is new; existing: the request was made before; running: `ifRunning` kept the live process of this name',
        ),
      record: record.describe('the process'),
      warning: z
        .discriminatedUnion('code', [
          z.strictObject({
            code: z.literal('unknown_variables').describe('`passEnv` has names that are no variables'),
            names: z.array(z.string()).describe('these names'),
          }),
          z.strictObject({
            code: z.literal('duplicate_of').describe('the same owner started the same command moments ago'),
            pid: z.string().describe('the earlier process'),
          }),
          z.strictObject({
            code: z
              .literal('name_in_use')
              .describe('another live process has this name, which refers to the new one from now on'),
            pid: z.string().describe('the other process'),
          }),
        ])
        .exactOptional()
        .describe('what the caller may not have meant'),
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
    'invalid_request',
    'too_many_commands',
    'limit_exceeded',
    'invalid_rule',
    'not_found',
    'untrusted',
  ],
})
