import type { Pid } from '../process/pid.ts'
import type { Actor } from '../process/record.ts'
import { type Refusal, refusal } from '../refusal.ts'
import type { Approval } from './approval.ts'

/** Facts about the actor that answers. */
export interface AnswererFacts {
  /** Its session, and those above that one. */
  readonly sessions: readonly string[]
  /** Of a process: those above it. */
  readonly ancestors: readonly Pid[]
  /** The sessions above the asking one. */
  readonly askingSessions: readonly string[]
  /** Whether its rules give it the right `approve` for the asker. */
  readonly mayApprove: boolean
}

/**
 * Refuses an answer by an actor that may not give one. People and the host may answer. A session or a process needs the right
 * `approve`, and never answers for itself, its own session, or one above or below it: it would approve its own act.
 */
export function refuseAnswerer(approval: Approval, by: Actor, facts: AnswererFacts): Refusal | undefined {
  if (by === 'host' || by.startsWith('human:')) return undefined
  if (isRelated(approval, by, facts)) return denied(approval, by, 'asks for it, or belongs to the asker')
  if (by.startsWith('kernel:') || !facts.mayApprove) return denied(approval, by, 'has no right to approve it')
  return undefined
}

function isRelated({ pid, request }: Approval, by: Actor, facts: AnswererFacts): boolean {
  if (by === request.subject) return true
  const [ownSession] = facts.sessions
  if (request.session !== null && facts.sessions.includes(request.session)) return true
  if (ownSession !== undefined && facts.askingSessions.includes(ownSession)) return true
  const own = pidOf(by)
  if (own === null) return false
  const asker = pidOf(request.subject)
  return (
    [pid, ...request.ancestors].includes(own) ||
    facts.ancestors.includes(pid) ||
    (asker !== null && facts.ancestors.includes(asker))
  )
}

function pidOf(actor: Actor): Pid | null {
  return actor.startsWith('process:') ? actor.slice('process:'.length) : null
}

function denied({ id }: Approval, by: Actor, why: string): Refusal {
  return refusal(
    'denied',
    `${by} may not answer the approval ${id}: it ${why}.`,
    'A person answers it: reeve approvals.',
    {
      subject: by,
      right: 'approve',
    },
  )
}
