import type { Json } from '../json/json.ts'
import type { Actor, Scope } from '../process/record.ts'

export const MESSAGE_PRIORITIES = ['normal', 'interrupt'] as const
/** `interrupt` asks the receiver to look at it before it goes on. It changes neither the order nor what a wait takes. */
export type MessagePriority = (typeof MESSAGE_PRIORITIES)[number]

/** What one process, session or person tells another. It is a notice of kind `message`; the inbox is its only queue. */
export interface Message {
  readonly from: Actor
  /** The subject that receivers select by. */
  readonly channel: string | null
  /** Connects a request and its answers. */
  readonly correlationId: string | null
  /** Where an answer is expected, if not at the sender. */
  readonly replyTo: Scope | null
  readonly priority: MessagePriority
  readonly value: Json
}

/** Selects messages: each given member must be equal. */
export interface MessageFilter {
  readonly channel?: string
  readonly correlationId?: string
  readonly from?: Actor
}

/** How many open messages an inbox holds. A sender that is faster than its receiver is refused, so that no inbox grows forever. */
export const MAX_OPEN_MESSAGES = 1_000

export function matchesMessage(
  { channel, correlationId, from }: MessageFilter,
  message: Pick<Message, 'channel' | 'correlationId' | 'from'>,
): boolean {
  return (
    (channel === undefined || channel === message.channel) &&
    (correlationId === undefined || correlationId === message.correlationId) &&
    (from === undefined || from === message.from)
  )
}

/** The pid of a `process:` scope; null for other scopes. */
export function pidOfScope(scope: Scope | Actor): string | null {
  return scope.startsWith('process:') ? scope.slice('process:'.length) : null
}

/** The id of a `session:` scope; null for other scopes. */
export function sessionOfScope(scope: Scope): string | null {
  return scope.startsWith('session:') ? scope.slice('session:'.length) : null
}
