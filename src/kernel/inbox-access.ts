import type { Actor } from '../core/process/record.ts'
import type { Refusal } from '../core/refusal.ts'
import type { Edges } from './edges.ts'

/** Whether an actor may read an inbox, or take from it. */
export function refuseInbox(
  edges: Edges,
  actor: Actor,
  scope: string,
  right: 'read' | 'write',
): Refusal | undefined {
  if (scope === actor) return undefined
  return scope.startsWith('session:')
    ? edges.authorize(actor, right, { type: 'session', id: scope.slice('session:'.length) })
    : edges.authorize(actor, right, { type: 'store' })
}
