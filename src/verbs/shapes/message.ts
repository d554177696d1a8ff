import * as z from 'zod'
import { MESSAGE_PRIORITIES } from '../../core/message/message.ts'
import { SIGNAL_NAME, SIGNAL_NAME_RULE } from '../../core/process/signal-name.ts'
import { actor, scopeText } from './actor.ts'
import { json } from './json.ts'

export const channel = z
  .string()
  .regex(SIGNAL_NAME, SIGNAL_NAME_RULE)
  .describe('the channel of the message, which receivers select by')

export const correlationId = z.string().min(1).max(200).describe('connects a request and its answers')

/** A message as events have it. */
export const messageMembers = {
  from: actor,
  channel: z.string().nullable(),
  correlationId: z.string().nullable(),
  replyTo: scopeText.nullable(),
  priority: z.enum(MESSAGE_PRIORITIES),
  value: json,
}

export const messageFilter = z
  .strictObject({
    channel: channel.exactOptional(),
    correlationId: correlationId.exactOptional(),
    from: actor.exactOptional().describe('the sender: host, human:<name>, session:<id> or process:<pid>'),
  })
  .describe('which messages end the wait')
