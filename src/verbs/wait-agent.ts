import * as z from 'zod'
import { turnResult } from './shapes/agent-view.ts'
import { processCodes } from './shapes/codes.ts'
import { reader } from './shapes/reader.ts'
import { record } from './shapes/record.ts'
import { duration, processRef } from './shapes/scalars.ts'
import { verb } from './verb.ts'

const now = record.describe('the agent now')
const turn = turnResult.nullable().describe('the last turn that ended; null if none has')

export const waitAgent = verb({
  summary: 'Waits until an agent is idle, paused or ended, or until one of its turns has ended.',
  description:
    'A timeout is an answer, not an error, and so is an aborted wait: the agent works on. With `turn` it waits for the end of that turn, also if it has not begun yet; a pause before that end is an answer, too.',
  route: 'GET /agents/{pid}/wait',
  needs: 'read',
  interrupted: { type: 'interrupted' },
  input: () =>
    z.strictObject({
      pid: processRef,
      turn: z.number().int().min(1).exactOptional().describe('the number of a turn'),
      timeoutMs: duration.exactOptional().describe('how long to wait, in milliseconds; 180 s by default'),
      reader: reader
        .exactOptional()
        .describe('one of the readers of the session: the others still get the notice of the end'),
    }),
  output: () =>
    z.discriminatedUnion('type', [
      z.strictObject({ type: z.literal('turn_ended'), turn: turnResult, record: now }),
      z.strictObject({ type: z.literal('idle'), turn, record: now }),
      z.strictObject({ type: z.literal('paused'), turn, record: now }),
      z.strictObject({ type: z.literal('ended'), turn, record: now }),
      z.strictObject({
        type: z.literal('timed_out'),
        record: now,
        clampedToMs: duration
          .exactOptional()
          .describe('the longest time that is allowed, if `timeoutMs` was longer'),
      }),
      z.strictObject({ type: z.literal('interrupted') }),
    ]),
  codes: [...processCodes, 'invalid_request'],
})
