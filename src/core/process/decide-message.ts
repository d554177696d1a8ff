import { withNotice } from '../agent/from-outside.ts'
import { sentenceOf } from '../inbox/sentence.ts'
import { sameJson } from '../json/canonical.ts'
import { asJson } from '../json/json.ts'
import { MAX_OPEN_MESSAGES, matchesMessage, sessionOfScope } from '../message/message.ts'
import { type Refusal, refusal } from '../refusal.ts'
import { sessionUnknown } from '../session/session.ts'
import { left } from './decide-wait.ts'
import {
  alreadyEnded,
  type Decision,
  type Facts,
  type MessageFacts,
  newEvent,
  type Rules,
  refuse,
  refuseSize,
  replayConflict,
} from './decision.ts'
import type { MessageReceived, MessageSent, StoredEvent } from './event.ts'
import { type Intent, messageKey } from './intent.ts'
import { hasEnded } from './record.ts'
import { waitsOf } from './wait.ts'

type MessageIntent = Extract<Intent, { type: 'message' }>

/**
 * A message to a process is an event of that process, and one to a session or a person is an event of the sender. The earliest
 * wait with a filter that matches takes it at once; otherwise it is a notice, and the next such wait takes it from the inbox.
 */
export function decideMessage(facts: Facts, intent: MessageIntent, rules: Rules): Decision {
  const { row, replayed } = facts
  const { record } = row
  const { to, message } = intent
  const key = messageKey(intent)
  if (replayed !== null)
    return isSame(replayed, intent)
      ? { type: 'replay', event: replayed }
      : refuse(replayConflict(record, key))
  if (hasEnded(record)) return refuse(alreadyEnded(record))
  const refused = facts.message === undefined ? undefined : refuseMessage(facts.message, intent)
  if (refused !== undefined) return refuse(refused)
  const tooLarge = refuseSize('The message', message.value, rules)
  if (tooLarge !== undefined) return refuse(tooLarge)
  if (to !== `process:${record.pid}`) {
    const sent: MessageSent = { to, ...message }
    return { type: 'append', events: [newEvent({ type: 'message_sent', payload: sent, replayKey: key })] }
  }
  const wait = waitsOf(record).find(
    ({ on, filter }) => on === 'message' && matchesMessage(filter ?? {}, message),
  )
  const received: MessageReceived = { ...message, taken: wait !== undefined }
  const event = newEvent({ type: 'message_received', payload: received, replayKey: key })
  if (wait === undefined) {
    const notice = {
      id: key,
      cause: 'message',
      parts: [{ type: 'text', text: told(intent, rules) }],
    } as const
    return { type: 'append', events: withNotice(row, [event], notice, intent) }
  }
  const answer = { how: 'message', signalSeq: null, messageSeq: record.revision + 1, value: null } as const
  return { type: 'append', events: [event, left(wait, answer)] }
}

/** The message as the model of an agent reads it. Programs read the event, which has the value as it was sent. */
function told({ pid, at, message }: MessageIntent, { mask }: Rules): string {
  const { replyTo } = message
  const payload = asJson(message)
  const notice = {
    scope: `process:${pid}`,
    pid,
    seq: 0,
    kind: 'message',
    at,
    payload,
    replyTo,
    tail: null,
  } as const
  return mask(sentenceOf(notice))
}

function refuseMessage({ sender, session, open }: MessageFacts, { to }: MessageIntent): Refusal | undefined {
  if (sender !== null && hasEnded(sender)) return alreadyEnded(sender)
  const id = sessionOfScope(to)
  if (id !== null && session === null) return sessionUnknown(id)
  if (session !== null && session.endedAt !== null)
    return refusal('session_ended', `The session ${session.id} has ended.`, 'Send it to another one.')
  if (open >= MAX_OPEN_MESSAGES)
    return refusal(
      'inbox_full',
      `The inbox of ${to} has ${open} messages that were not taken.`,
      'Wait until some are taken, and send it again.',
    )
  return undefined
}

/** A repetition has the same content and addressee. Whether a wait took the first one at once does not matter. */
function isSame({ type, payload }: StoredEvent, { to, message }: MessageIntent): boolean {
  if (type === 'message_sent') return sameJson(payload, asJson({ to, ...message }))
  const { taken: _, ...received } = Object(payload) as MessageReceived
  return sameJson(asJson(received), asJson(message))
}
