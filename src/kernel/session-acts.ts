import type { Pid } from '../core/process/pid.ts'
import type { Actor } from '../core/process/record.ts'
import type { Grant } from '../core/session/grant.ts'
import type { Session, Turn } from '../core/session/session.ts'
import type { AuditContext } from './audit.ts'
import type { Carriers, SessionDeletionReport } from './carriers.ts'
import type { Edges } from './edges.ts'
import { revoke, transfer } from './grants.ts'
import type { ReadAccess } from './read-access.ts'
import { endSession, endTurn, markDeleted } from './sessions.ts'

export interface SessionActsParts {
  readonly carriers: Carriers
  readonly readAccess: ReadAccess
}

/** Acts on sessions with their consequences: processes stop with their session or turn, and readers lose access. */
export class SessionActs {
  readonly #edges: Edges
  readonly #parts: SessionActsParts

  constructor(edges: Edges, parts: SessionActsParts) {
    this.#edges = edges
    this.#parts = parts
  }

  async end(actor: Actor, id: string): Promise<Session> {
    const session = await endSession(this.#edges, actor, id)
    await this.#parts.carriers.session(session)
    return session
  }

  async endTurn(actor: Actor, id: { session: string; turn: string }): Promise<Turn> {
    const turn = await endTurn(this.#edges, actor, id)
    await this.#parts.carriers.turn(turn)
    return turn
  }

  async delete(actor: Actor, id: string): Promise<SessionDeletionReport> {
    const { carriers, readAccess } = this.#parts
    const report = await carriers.session(await markDeleted(this.#edges, actor, id))
    await readAccess.grantsRevoked()
    return report
  }

  async revoke(
    actor: Actor,
    session: string,
    pids: readonly Pid[],
    context: AuditContext = {},
  ): Promise<number> {
    const revoked = await revoke(this.#edges, actor, session, pids, context)
    await this.#parts.readAccess.grantsRevoked()
    return revoked
  }

  async transferGrants(
    actor: Actor,
    from: string,
    to: string,
    pids: readonly Pid[],
    context: AuditContext = {},
  ): Promise<Grant[]> {
    const grants = await transfer(this.#edges, actor, from, to, pids, context)
    await this.#parts.readAccess.grantsRevoked()
    return grants
  }
}
