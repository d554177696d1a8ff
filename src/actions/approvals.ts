import type { Answer } from '../core/approval/decide-answer.ts'
import { RefusedError } from '../core/errors.ts'
import type { Actor } from '../core/process/record.ts'
import type { OutputOf } from '../verbs/reeve.ts'
import type { ActionParts, ActionsFor } from './action.ts'

/** Requests to people, and their answers. */
export function approvalActions({
  kernel,
  actor,
}: ActionParts): ActionsFor<'approvals' | 'approve' | 'deny'> {
  const { store } = kernel.edges
  const settle = async (id: string, answer: Answer): Promise<OutputOf<'approve'>> => {
    const settled = await kernel.approvals.answer({ id, by: actor, answer })
    if (settled.type === 'refused') throw new RefusedError(settled.refusal)
    return { type: settled.type, approval: settled.approval }
  }
  return {
    async approvals({ state, after, limit }) {
      const wanted = state === 'any' ? {} : { state }
      const page = await store.ask({ ask: 'approvals', ...wanted, after: after ?? null, limit })
      const own = sessionOf(actor)
      const approvals = page.items.filter(({ request }) => own === null || request.session === own)
      return { approvals, next: page.next }
    },
    approve: ({ id }) => settle(id, { type: 'approve', grant: 'once' }),
    deny: ({ id, advice }) => settle(id, { type: 'deny', ...(advice === undefined ? {} : { advice }) }),
  }
}

/** The session whose requests an actor sees; null: it sees all. */
function sessionOf(actor: Actor): string | null {
  if (actor === 'host' || actor.startsWith('human:') || actor.startsWith('kernel:')) return null
  return actor.startsWith('session:') ? actor.slice('session:'.length) : ''
}
