import type { Session } from '../../../src/core/session/session.ts'
import { type Check, type Ledger, same } from '../ledger.ts'
import type { Stage } from '../stage.ts'

/** Sessions form a tree that never changes, and each process knows the sessions above its own. */
export function checkSessions(stage: Stage, ledger: Ledger): Check & { atRest(): void } {
  const broke = (what: string) => stage.violated('a session stays below the one it was opened in', what)
  const chainOf = (id: string | undefined) =>
    (id === undefined ? undefined : ledger.sessions.get(id)?.sessionsAbove) ?? []

  const changed = (was: Session | null, { id, sessionsAbove = [] }: Session) => {
    const [parent] = sessionsAbove
    if (was !== null && !same(was.sessionsAbove ?? [], sessionsAbove))
      broke(`${id} was below ${was.sessionsAbove?.join()}, and is below ${sessionsAbove.join()}`)
    if (was === null && parent !== undefined && !same(sessionsAbove, [parent, ...chainOf(parent)]))
      broke(`${id} is below ${parent}, and not below all of ${chainOf(parent).join()}`)
    if (sessionsAbove.includes(id)) broke(`${id} is below itself`)
  }

  return {
    other(change) {
      if (change.type === 'session') changed(change.was, change.session)
    },
    process({ was, row }) {
      const { pid, owner, sessionsAbove = [] } = row.record
      if (was !== null || owner.session === undefined || !ledger.sessions.has(owner.session)) return
      if (!same(sessionsAbove, chainOf(owner.session)))
        broke(`${pid} of ${owner.session} says that it is below ${sessionsAbove.join() || 'no session'}`)
    },
    /** The end of a session has reached those below it. */
    atRest() {
      for (const { id, endedAt, sessionsAbove = [] } of ledger.sessions.values())
        for (const above of sessionsAbove) {
          const ended = ledger.sessions.get(above)?.endedAt
          if (endedAt === null && ended !== null && ended !== undefined)
            stage.violated('a session ends with those above it', `${id} is open, and ${above} has ended`)
        }
    },
  }
}
