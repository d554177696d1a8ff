import * as z from 'zod'
import { json } from './json.ts'
import { record } from './record.ts'
import { registration } from './registration.ts'
import { count, pageSize, time } from './scalars.ts'

/** A program that serves workflows over the wire: it names itself, and is the holder of what it claims. */
export const worker = z.string().regex(/^w_[0-9a-f]{24}$/, 'must be w_ and 24 hex digits, made at random')

const place = z.number().int().min(1)
const step = { place, kind: z.enum(['step', 'sleep', 'signal', 'spawn', 'wait']), name: z.string().max(200) }
const ended = { ...step, began: time, tries: count }
const wait = z.strictObject({
  on: z.enum(['child', 'signal', 'timer']),
  name: z.string().min(1).max(200),
  ordinal: z.number().int().min(1),
  place: place.exactOptional(),
})

/** What a worker does to a process that it holds. */
export const act = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('end_step'),
    step: z.discriminatedUnion('how', [
      z.strictObject({ ...ended, how: z.literal('done'), value: json.exactOptional() }),
      z.strictObject({
        ...ended,
        how: z.literal('failed'),
        error: z.string(),
        thrown: json.exactOptional(),
      }),
    ]),
  }),
  z.strictObject({
    type: z.literal('retry_step'),
    step: z.strictObject({ ...step, tries: count, error: z.string(), retryAt: time }),
  }),
  z.strictObject({ type: z.literal('enter_wait'), wait, until: time.nullable() }),
  z.strictObject({
    type: z.literal('leave_wait'),
    wait,
    how: z.enum(['due', 'ended', 'timed_out']),
    value: json,
  }),
  z.strictObject({ type: z.literal('park'), waits: z.array(wait).max(1_000) }),
  z.strictObject({ type: z.literal('spawn'), request: registration, place }),
  z.strictObject({
    type: z.literal('end'),
    status: z.enum(['completed', 'failed', 'cancelled']),
    reason: z.string().exactOptional(),
    result: json.exactOptional(),
  }),
  z.strictObject({ type: z.literal('release') }),
  /** It was asked to stop, its grace is over, and it was not seen to stop. */
  z.strictObject({ type: z.literal('give_up_stop') }),
  /** A one-shot key for a wait, and a secret of the process that is the same in every attempt. */
  z.strictObject({ type: z.literal('key'), wait }),
  z.strictObject({ type: z.literal('seed') }),
  /** Its environment, as it was stored: names of secrets, not their values. */
  z.strictObject({ type: z.literal('environment') }),
  /** Its journal, a page of it, as it was written: what is shown to others may be masked. */
  z.strictObject({ type: z.literal('events'), after: count, limit: pageSize }),
])

export const claimed = z.strictObject({ record, fence: count })
