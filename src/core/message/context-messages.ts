import { RefusedError } from '../errors.ts'
import type { Json } from '../json/json.ts'
import { checkOptions } from '../known-options.ts'
import type { Pid } from '../process/pid.ts'
import type { Scope } from '../process/record.ts'
import { SIGNAL_NAME, SIGNAL_NAME_RULE } from '../process/signal-name.ts'
import { refusal } from '../refusal.ts'
import { decode } from '../value/decode.ts'
import { encode } from '../value/encode.ts'
import { unstorable } from '../value/stored-value.ts'
import type { Value } from '../value/value.ts'
import { MESSAGE_PRIORITIES, type Message, type MessageFilter, type MessagePriority } from './message.ts'

/** A message that a tool or a workflow sends. */
export interface OutgoingMessage {
  /** `process:<pid>`, `session:<id>`, `human:<name>`, or `parent`: the process that started this one. */
  readonly to: Scope | 'parent'
  readonly value?: Value
  /** The subject that receivers select by. */
  readonly channel?: string
  /** Connects a request and its answers. */
  readonly correlationId?: string
  /** Where an answer is expected, if not here. */
  readonly replyTo?: Scope
  /** `interrupt` asks the receiver to look at it before it goes on. */
  readonly priority?: MessagePriority
}

/** Selects the messages that end a receive. Without a member, every message does. */
export interface ReceiveOptions extends MessageFilter {
  /** How long to wait; forever without it. */
  readonly timeoutMs?: number
}

/** A received message, with its value decoded. */
export type ReceivedMessage = Omit<Message, 'value'> & { readonly value: Value }

export type ReceiveAnswer = ({ readonly type: 'message' } & ReceivedMessage) | { readonly type: 'timed_out' }

const OUTGOING = ['to', 'value', 'channel', 'correlationId', 'replyTo', 'priority']
const INCOMING = ['channel', 'correlationId', 'from', 'timeoutMs']
const SCOPE = /^(session|process|human):.{1,200}$/s

/** The message as it is stored, checked before anything is sent. */
export function outgoingMessage(
  given: OutgoingMessage,
  parent: Pid | null,
): { readonly to: Scope; readonly message: Omit<Message, 'from'> } {
  checkOptions('sendMessage', given, OUTGOING)
  const { value = null, channel, correlationId, replyTo, priority = 'normal' } = given
  const to = addressee(given.to, parent)
  if (replyTo !== undefined && !SCOPE.test(replyTo)) throw invalid('replyTo', replyTo, SCOPE_RULE)
  if (!MESSAGE_PRIORITIES.includes(priority))
    throw invalid('priority', priority, `must be ${MESSAGE_PRIORITIES.join(' or ')}`)
  checkChannel(channel)
  checkCorrelationId(correlationId)
  const encoded = encode(value)
  if (encoded.type === 'unstorable') throw new RefusedError(unstorable('The message', encoded.why))
  return {
    to,
    message: {
      channel: channel ?? null,
      correlationId: correlationId ?? null,
      replyTo: replyTo ?? null,
      priority,
      value: encoded.json,
    },
  }
}

/** The name and the filter of a wait on messages. */
export function messageWait(options: ReceiveOptions): {
  readonly name: string
  readonly filter: MessageFilter
} {
  checkOptions('receive', options, INCOMING)
  const { channel, correlationId, from } = options
  checkChannel(channel)
  checkCorrelationId(correlationId)
  const filter = {
    ...(channel === undefined ? {} : { channel }),
    ...(correlationId === undefined ? {} : { correlationId }),
    ...(from === undefined ? {} : { from }),
  }
  return { name: channel ?? ANY, filter }
}

/** The name of a wait on every channel. A channel of this name shares its counter, which keeps all their waits apart. */
const ANY = 'any'

/** The answer of a receive: `received` is the event's payload. */
export function receiveAnswer(received: Json): ReceiveAnswer {
  const { taken: _, ...message } = Object(received) as Message & { readonly taken: boolean }
  return { type: 'message', ...message, value: decode(message.value) }
}

const SCOPE_RULE = 'must be session:…, process:… or human:…'

function addressee(to: Scope | 'parent', parent: Pid | null): Scope {
  if (to !== 'parent') {
    if (typeof to !== 'string' || !SCOPE.test(to)) throw invalid('to', to, `${SCOPE_RULE}, or parent`)
    return to
  }
  if (parent !== null) return `process:${parent}`
  throw new RefusedError(
    refusal('invalid_input', 'This process has no parent.', 'Name another addressee in to.'),
  )
}

function checkChannel(channel: unknown): void {
  if (channel === undefined || (typeof channel === 'string' && SIGNAL_NAME.test(channel))) return
  throw invalid('channel', channel, SIGNAL_NAME_RULE)
}

const MAX_CORRELATION_CHARS = 200

function checkCorrelationId(id: unknown): void {
  const isFine = typeof id === 'string' && id.length > 0 && id.length <= MAX_CORRELATION_CHARS
  if (id !== undefined && !isFine)
    throw invalid('correlationId', id, `must be a text of 1 to ${MAX_CORRELATION_CHARS} characters`)
}

function invalid(option: string, given: unknown, rule: string): RefusedError {
  return new RefusedError(
    refusal('invalid_input', `${option} is ${JSON.stringify(given)}: it ${rule}.`, 'Correct it.', { option }),
  )
}
