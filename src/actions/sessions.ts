import { openSession, openTurn, touchSession } from '../kernel/sessions.ts'
import { type ActionParts, type ActionsFor, permitOnSession, permitOnStore } from './action.ts'

export function sessionActions(
  parts: ActionParts,
): ActionsFor<
  | 'openSession'
  | 'touchSession'
  | 'endSession'
  | 'deleteSession'
  | 'sessions'
  | 'openTurn'
  | 'endTurn'
  | 'liveCount'
> {
  const { kernel, actor } = parts
  const { edges } = kernel
  return {
    openSession: ({ session, label, allowance, workspace, parentSession }) =>
      openSession(edges, actor, session, label ?? null, allowance, workspace, parentSession),
    touchSession: ({ session }) => touchSession(edges, actor, session),
    endSession: ({ session }) => kernel.sessions.end(actor, session),
    async deleteSession({ session }) {
      const { stopped, orphaned, preserved, ...counts } = await kernel.sessions.delete(actor, session)
      return { ...counts, stopped: [...stopped], orphaned: [...orphaned], preserved: [...preserved] }
    },
    async sessions({ after, limit, parentSession: parent }) {
      permitOnStore(parts, 'read')
      const page = { after: after ?? null, limit, ...(parent === undefined ? {} : { parent }) }
      return { sessions: [...(await edges.store.ask({ ask: 'sessions', ...page }))] }
    },
    openTurn: (id) => openTurn(edges, actor, id),
    endTurn: (id) => kernel.sessions.endTurn(actor, id),
    async liveCount({ session, maxAgeMs }) {
      if (session === undefined) permitOnStore(parts, 'read')
      else permitOnSession(parts, session)
      const since = maxAgeMs === undefined ? null : edges.clock.now() - maxAgeMs
      return edges.store.ask({ ask: 'activity', session: session ?? null, since })
    },
  }
}
