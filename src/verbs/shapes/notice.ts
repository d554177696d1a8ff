import * as z from 'zod'
import { json } from './json.ts'
import { count, time } from './scalars.ts'

export const scope = z
  .string()
  .max(300)
  .regex(/^(session|process|human):.+$/s, 'must be session:…, process:… or human:…')

export const consumer = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._:-]{0,99}$/, 'must be letters, digits, dots, dashes, colons, at most 100')

export const notice = z.strictObject({
  place: count.describe('where it lies in all inboxes: what came later has a higher one'),
  scope: z.string(),
  pid: z.string(),
  seq: count,
  kind: z.enum([
    'completion',
    'group_completion',
    'watch_match',
    'watch_disabled',
    'overflow_tripped',
    'overflow_released',
    'ready',
    'heartbeat',
    'approval',
    'limit_warning',
    'wake',
  ]),
  at: time,
  text: z.string().describe('what it says, in words that stand alone'),
  payload: json,
  replyTo: json,
  done: z.enum(['acknowledged', 'consumed']).nullable(),
})

/** How long an answer is held back when there is nothing to tell. */
export const waitMs = z.number().int().min(0).max(60_000).default(0).describe('milliseconds')
