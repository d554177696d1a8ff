import { ReeveError } from '../core/errors.ts'
import type { Actor } from '../core/process/record.ts'
import type { ReeveVerbs } from '../verbs/reeve.ts'
import { ROLES, type Role } from '../verbs/verb.ts'
import type { Served } from './served.ts'

/** Who calls: what their token lets them do, and on whose behalf it is done. */
export interface Caller {
  readonly role: Role | 'agent'
  readonly actor: Actor
  /** Null for whoever came through the Unix socket, and so is the user. */
  readonly tokenId: string | null
}

/** The role `read` has no effects: whoever has no other one observes, whomever they act as. */
export function actingFor(reeve: Served, { actor, role }: Caller): ReeveVerbs {
  if (role === 'read') return reeve.observing(actor)
  return actor === 'host' ? reeve : reeve.as(actor)
}

/** An agent may do what its session may; what that is the kernel decides. Only what concerns everybody is out of its reach. */
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

/** For what is about everything there is: an agent sees its session alone. */
export function demandWhole(caller: Caller, needs: Role): void {
  demand(caller, needs)
  if (caller.role !== 'agent') return
  const said = 'This tells of everything that runs here, and your token is bound to a session.'
  throw new ReeveError('forbidden', said, `Use a token with the role ${needs}.`, {
    details: { role: 'agent', needs },
  })
}

/** An environment belongs to a program on this machine: one that a token sends from elsewhere would mean nothing here. */
export function refuseInherited({ tokenId }: Caller, input: Readonly<Record<string, unknown>>): void {
  if (tokenId === null) return
  const requests: readonly unknown[] = Array.isArray(input['processes']) ? input['processes'] : [input]
  if (!requests.some((request) => Object(request).inherited !== undefined)) return
  throw new ReeveError(
    'forbidden',
    'inherited has the environment of a program on the machine of the daemon, and is taken on its own socket alone.',
    'Leave inherited and spec.inheritEnv out, and name variables in spec.env.',
  )
}

interface SecretsAsked {
  readonly reveal: boolean
  readonly terminal: boolean
}

/**
 * How output is shown: secrets to an admin who says so, which is noted; and at a terminal of their own to whoever is the user.
 * Who shows a token may sit anywhere: for an admin a terminal is one more way to say so, for others it masks as everything does.
 */
export function viewOf(caller: Caller, { reveal, terminal }: SecretsAsked): Partial<SecretsAsked> {
  if (reveal) demand(caller, 'admin')
  if (terminal) demand(caller, 'operate')
  if (terminal && caller.tokenId === null) return { terminal }
  return reveal || (terminal && caller.role === 'admin' && caller.actor === 'host') ? { reveal: true } : {}
}
