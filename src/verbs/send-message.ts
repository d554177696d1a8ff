import * as z from 'zod'
import { MESSAGE_PRIORITIES } from '../core/message/message.ts'
import { json } from './shapes/json.ts'
import { channel, correlationId } from './shapes/message.ts'
import { scope } from './shapes/notice.ts'
import { verb } from './verb.ts'

export const sendMessage = verb({
  summary: 'Sends a message to a process, a session or a person.',
  description:
    'The message is a notice of kind `message` in the inbox of the addressee. A process writes to itself, its parent, its children, its session and `human:host`; a session writes to its processes. Messages of one sender keep their order. Messages to sessions and people come from processes only.',
  route: 'POST /messages',
  needs: 'operate',
  repeat: {
    keys: ['idempotencyKey'],
    generated: 'always',
    answer: { member: 'type', replayed: 'replayed', first: 'sent' },
  },
  idempotencyHeader: true,
  input: () =>
    z.strictObject({
      to: scope.describe('process:<pid or name>, session:<id> or human:<name>'),
      value: json.optional().describe('the content of the message'),
      channel: channel.exactOptional(),
      correlationId: correlationId.exactOptional(),
      replyTo: scope.exactOptional().describe('where an answer is expected, if not at the sender'),
      priority: z
        .enum(MESSAGE_PRIORITIES)
        .default('normal')
        .describe('`interrupt` asks the receiver to look at it before it goes on'),
      idempotencyKey: z
        .string()
        .min(1)
        .max(200)
        .exactOptional()
        .describe('messages of one sender to one addressee with the same key are one message'),
    }),
  output: () =>
    z.strictObject({
      type: z
        .enum(['sent', 'replayed'])
        .describe('`replayed`: the message was sent before, under the same key'),
      to: z.string().describe('the scope of the addressee, with the whole pid of a process'),
      idempotencyKey: z.string().describe('the key of the message'),
    }),
  codes: [
    'unknown_pid',
    'pruned_pid',
    'ambiguous_pid',
    'already_ended',
    'session_unknown',
    'session_ended',
    'payload_too_large',
    'replay_conflict',
    'inbox_full',
    'not_available',
    'denied',
  ],
})
