import { RefusedError } from '../core/errors.ts'
import { type Message, pidOfScope } from '../core/message/message.ts'
import type { Actor, Scope } from '../core/process/record.ts'
import { type Refusal, refusal } from '../core/refusal.ts'
import type { Kernel } from './kernel.ts'

export interface Sending {
  readonly actor: Actor
  readonly to: Scope
  readonly message: Omit<Message, 'from'>
  /** Messages of one sender to one addressee with the same key are one message. */
  readonly key: string
}

/** Sends a message once. It is an event of the addressee if that is a process, otherwise of the sender. */
export async function sendMessage(
  kernel: Kernel,
  { actor, to, message, key }: Sending,
): Promise<'sent' | 'replayed'> {
  const pid = pidOfScope(to) ?? pidOfScope(actor)
  if (pid === null) throw new RefusedError(noLog(actor, to))
  const { type } = await kernel.perform({
    type: 'message',
    pid,
    to,
    message: { from: actor, ...message },
    key,
    actor,
    at: kernel.edges.clock.now(),
  })
  return type === 'replayed' ? 'replayed' : 'sent'
}

function noLog(actor: Actor, to: Scope): Refusal {
  return refusal(
    'not_available',
    `${actor} cannot send a message to ${to}: messages to sessions and people come from processes.`,
    'Send it to a process, or let a process send it.',
  )
}
