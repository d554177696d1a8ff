import * as z from 'zod'
import { environmentShape } from './shapes/environment.ts'
import { storedEvent } from './shapes/event.ts'
import { record } from './shapes/record.ts'
import { count, pid, time } from './shapes/scalars.ts'
import { act, worker } from './shapes/worker.ts'
import { verb } from './verb.ts'

export const doWork = verb({
  summary: 'Writes what a worker did on a process that it holds.',
  description:
    'Every act carries the fence of the claim. An act with a stale fence changes nothing. All acts may be repeated.',
  route: 'POST /workers/{worker}/work',
  needs: 'operate',
  repeat: 'always',
  masking: 'none',
  input: () =>
    z.strictObject({
      worker,
      pid,
      fence: count.describe('the fence of the claim'),
      act: act.describe('what it did'),
    }),
  output: () =>
    z.discriminatedUnion('type', [
      z.strictObject({ type: z.enum(['appended', 'kept']), at: time }),
      z.strictObject({ type: z.literal('replayed'), event: storedEvent }),
      z.strictObject({ type: z.enum(['parked', 'not_parked']) }),
      z.strictObject({ type: z.literal('spawned'), pid: z.string(), kind: z.string(), label: z.string() }),
      z.strictObject({ type: z.literal('child'), record }),
      z.strictObject({ type: z.literal('said'), text: z.string() }),
      z.strictObject({ type: z.literal('events'), events: z.array(storedEvent) }),
      z.strictObject({ type: z.literal('environment'), environment: environmentShape }),
    ]),
  codes: [
    'stale_fence',
    'already_ended',
    'stopping',
    'not_waiting',
    'conflict',
    'payload_mismatch',
    'payload_too_large',
    'replay_conflict',
    'undeclared_event',
    'unknown_pid',
    'pruned_pid',
    'denied',
    'environment_unknown',
  ],
})
