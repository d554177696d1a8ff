import type { Context } from 'hono'
import type { AgentClient, Person } from '../core/authority/person.ts'
import { ReeveError } from '../core/errors.ts'
import type { Actor } from '../core/process/record.ts'
import type { ReeveVerbs } from '../verbs/reeve.ts'
import { ROLES, type Role } from '../verbs/verb.ts'
import type { Env } from './app.ts'
import type { Served } from './served.ts'

/** Who calls: the role of the token, the actor that the call acts as, and the person behind it. */
export interface Caller {
  readonly role: Role | 'agent'
  readonly actor: Actor
  /** Null for the user, who comes through the Unix socket without a token. */
  readonly tokenId: string | null
  /** Answers approvals and changes rules in place of the host. Of an agent's token: never through verbs, as the agent has it. */
  readonly person: Person | null
  /** The person sits at this client, and may be asked there; for an agent's client. */
  readonly approver: boolean
  /** It came through the socket, and does not say that a person calls. */
  readonly mayBeProgram?: boolean
  /** The client of an agent that passes on the answers of the person. */
  readonly through?: AgentClient
}

/** Calls with the role `read` have no effects, whichever actor they act as. */
export function actingFor(
  reeve: Served,
  { actor, role, person, approver, mayBeProgram = false, through }: Caller,
): ReeveVerbs {
  const seat = { person, approver, mayBeProgram, ...(through === undefined ? {} : { through }) }
  return role === 'read' ? reeve.observing(actor, seat) : reeve.calledFrom(seat, actor)
}

/** Refuses only verbs about the whole store to agents. The kernel decides about the other acts of an agent's session. */
export function demand({ role }: Caller, needs: Role): void {
  const reach = ROLES.indexOf(role === 'agent' ? 'operate' : role)
  if (reach >= ROLES.indexOf(needs)) return
  throw new ReeveError(
    'forbidden',
    `This needs a token with the role ${needs}, and yours has ${role}.`,
    `Use a token with the role ${needs}.`,
    { details: { role, needs } },
  )
}

/** For routes about the whole store: an agent sees its session only. */
export function demandWhole(caller: Caller, needs: Role): void {
  demand(caller, needs)
  if (caller.role !== 'agent') return
  const message = 'This is about everything that runs here, and your token is bound to a session.'
  throw new ReeveError('forbidden', message, `Use a token with the role ${needs}.`, {
    details: { role: 'agent', needs },
  })
}

/** An inherited environment belongs to a program on this machine. A caller with a token may be on another one. */
export function refuseInherited({ tokenId }: Caller, input: Readonly<Record<string, unknown>>): void {
  if (tokenId === null) return
  const requests: readonly unknown[] = Array.isArray(input['processes']) ? input['processes'] : [input]
  if (!requests.some((request) => Object(request).inherited !== undefined)) return
  throw new ReeveError(
    'forbidden',
    "inherited has the environment of a program on the daemon's machine, so it is accepted on the daemon's own socket only.",
    'Leave inherited and spec.inheritEnv out, and name variables in spec.env.',
  )
}

interface SecretsAsked {
  readonly reveal: boolean
  readonly terminal: boolean
}

/**
 * Whether secrets in output are shown: to an admin who asks for it, which is recorded, and to the user at a terminal. A caller
 * with a token may be anywhere: for an admin a terminal counts as a reveal, and for others it masks as everything else does.
 */
export function viewOf(caller: Caller, { reveal, terminal }: SecretsAsked): Partial<SecretsAsked> {
  if (reveal) demand(caller, 'admin')
  if (terminal) demand(caller, 'operate')
  if (terminal && caller.tokenId === null) return { terminal }
  return reveal || (terminal && caller.role === 'admin' && caller.actor === 'host') ? { reveal: true } : {}
}

/** Aborted when the caller disconnects, or its token is revoked. */
export function callSignal(context: Context<Env>): AbortSignal {
  const { signal } = context.req.raw
  const revoked = context.get('revoked')
  return revoked === undefined ? signal : AbortSignal.any([signal, revoked])
}
