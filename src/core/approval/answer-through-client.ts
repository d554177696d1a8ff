import type { AgentClient } from '../authority/person.ts'
import type { Actor } from '../process/record.ts'
import { type Refusal, refusal } from '../refusal.ts'
import type { Approval } from './approval.ts'
import type { GivenAnswer } from './decide-answer.ts'

/** Facts about the request that is answered. */
export interface AskerFacts {
  /** The sessions above the asking one. */
  readonly askingSessions: readonly string[]
  /** The actors that registered the waiting process and those above it. */
  readonly originators: readonly Actor[]
}

/**
 * Refuses an answer of a person that comes through the client of an agent. A filled form decides about this time or this session,
 * and changes no action: the client could have filled it in. A model that answers for a person never answers its own requests.
 */
export function refuseThroughClient(
  approval: Approval,
  answer: GivenAnswer,
  { sessions, elicited }: AgentClient,
  facts: AskerFacts,
): Refusal | undefined {
  if (elicited) return reachesTooFar(answer) ? tooFar(approval) : undefined
  const { subject, session } = approval.request
  const asking = [...facts.originators, subject].flatMap((actor) => sessionOf(actor) ?? [])
  const asked = [...asking, ...facts.askingSessions, ...(session === null ? [] : [session])]
  return asked.some((one) => sessions.some((own) => matches(own, one))) ? ownRequest(approval) : undefined
}

function reachesTooFar({ answer, isEdited }: GivenAnswer): boolean {
  return answer.type === 'approve' && (isEdited || !ELICITED_GRANTS.includes(answer.grant))
}

const ELICITED_GRANTS: readonly string[] = ['once', 'session']

function sessionOf(actor: Actor): string | undefined {
  return actor.startsWith('session:') ? actor.slice('session:'.length) : undefined
}

function matches(own: string, session: string): boolean {
  return own.endsWith('*') ? session.startsWith(own.slice(0, -1)) : session === own
}

function tooFar({ id }: Approval): Refusal {
  return refusal(
    'denied',
    `A form at the client of an agent approves ${id} as it is, once or for the session, and no more.`,
    `Approve it with once or session, or answer it elsewhere: reeve approve ${id}.`,
    { approval: id, right: 'approve' },
  )
}

function ownRequest({ id }: Approval): Refusal {
  return refusal(
    'denied',
    `The client that answers ${id} may have asked for it itself, and does not answer its own requests.`,
    `The person answers it elsewhere: reeve approve ${id}.`,
    { approval: id, right: 'approve' },
  )
}
