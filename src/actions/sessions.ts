import { answererOf } from '../core/authority/person.ts'
import { isPreset, type Preset, presetRefusal } from '../core/capability/presets.ts'
import { RefusedError } from '../core/errors.ts'
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
  const { kernel, actor, seat } = parts
  // A client that may be a program of Reeve has to say which person calls, as for every change of rules.
  const person = answererOf(actor, seat)
  const mayBePerson = seat.mayBeProgram !== true || person !== null
  const { edges } = kernel
  return {
    openSession: async ({ session, label, allowance, workspace, parentSession, preset }) =>
      openSession(
        edges,
        actor,
        session,
        label ?? null,
        allowance,
        workspace,
        parentSession,
        preset === undefined ? undefined : { preset: presetNamed(preset), by: person ?? actor, mayBePerson },
      ),
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
      else await permitOnSession(parts, session)
      const since = maxAgeMs === undefined ? null : edges.clock.now() - maxAgeMs
      return edges.store.ask({ ask: 'activity', session: session ?? null, since })
    },
  }
}

function presetNamed(name: string): Preset {
  if (isPreset(name)) return name
  throw new RefusedError(presetRefusal(name))
}
