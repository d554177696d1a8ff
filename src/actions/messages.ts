import { pidOfScope } from '../core/message/message.ts'
import type { Scope } from '../core/process/record.ts'
import { sendMessage } from '../kernel/send-message.ts'
import { type ActionParts, type ActionsFor, finderFor } from './action.ts'
import { checkJson } from './parse.ts'

export function messageActions(parts: ActionParts): ActionsFor<'sendMessage'> {
  const { kernel, actor } = parts
  const find = finderFor(parts)
  return {
    async sendMessage({ to: asked, value, channel, correlationId, replyTo, priority, idempotencyKey }) {
      const name = pidOfScope(asked as Scope)
      const to = name === null ? (asked as Scope) : (`process:${await find(name)}` as const)
      const key = idempotencyKey ?? kernel.edges.newId()
      const message = {
        channel: channel ?? null,
        correlationId: correlationId ?? null,
        replyTo: (replyTo ?? null) as Scope | null,
        priority,
        value: checkJson(value ?? null, 'value'),
      }
      return { type: await sendMessage(kernel, { actor, to, message, key }), to, idempotencyKey: key }
    },
  }
}
