import * as z from 'zod'
import { DONE_HOW } from '../../core/change.ts'
import { NOTICE_KINDS } from '../../core/inbox/notice.ts'
import { json } from './json.ts'
import { count, time } from './scalars.ts'

export const scope = z
  .string()
  .max(300)
  .regex(/^(session|process|human):.+$/s, 'must be session:…, process:… or human:…')
  .describe('session:<id>, process:<pid> or human:<name>')

export const consumer = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._:-]{0,99}$/, 'must be letters, digits, dots, dashes, colons, at most 100')
  .describe('the name of a consumer, which has a cursor of its own')

export const notice = z.strictObject({
  position: count.describe('its position in the order of all inboxes: later notices have higher positions'),
  scope: z.string().describe('the inbox that it is in'),
  pid: z.string().describe('the process that it is about'),
  seq: count.describe('the event of that process that made it'),
  kind: z.enum(NOTICE_KINDS).describe('what happened'),
  at: time.describe('when it happened, in milliseconds since 1970'),
  text: z.string().describe('the notice as a sentence that can be read alone'),
  payload: json.describe('the facts of the notice'),
  replyTo: json.describe('what the registration of the process has as `replyTo`'),
  done: z.enum(DONE_HOW).nullable().describe('how it was handled for all consumers; null if it was not'),
})

/** How long the daemon delays an answer that would be empty. */
export const waitMs = z.number().int().min(0).max(60_000).default(0).describe('milliseconds')
