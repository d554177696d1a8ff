import { type Refusal, refusal } from '../refusal.ts'
import { howToOpen, type Session, sessionUnknown, type Turn } from '../session/session.ts'
import type { Registration } from './record.ts'

interface ScopeFacts {
  readonly session: Session | null
  readonly turn: Turn | null
  /** A session that is to be woken, or to be granted the process, and is not open. */
  readonly unusableSession: string | null
}

/**
 * Whether the owner exists and is open, and whether the lifetime has something to end with. A hook at an end may begin when its session has
 * ended, too.
 */
export function refuseScope(
  { session, turn, unusableSession }: ScopeFacts,
  { owner, lifetime, parent }: Pick<Registration, 'owner' | 'lifetime' | 'parent'>,
  isEndHook = false,
): Refusal | undefined {
  if (owner.session !== undefined && session === null) {
    return sessionUnknown(owner.session)
  }
  if (session !== null && session.endedAt !== null && !isEndHook) {
    return refusal('session_ended', `The session ${session.id} has ended.`, 'Open another one.')
  }
  if (unusableSession !== null) {
    return refusal(
      'session_unknown',
      `The session ${unusableSession}, which is to be woken or shown this process, is not open.`,
      howToOpen(unusableSession),
      { session: unusableSession },
    )
  }
  if (owner.turn !== undefined && turn === null) {
    return refusal(
      'turn_unknown',
      `There is no turn ${owner.turn} in session ${owner.session ?? '(none given)'}.`,
      'Open it first with openTurn, and name its session.',
    )
  }
  if (turn !== null && turn.endedAt !== null) {
    return refusal('turn_ended', `The turn ${turn.id} has ended.`, 'Open another one.')
  }
  const scoped =
    lifetime === 'turn'
      ? owner.turn
      : lifetime === 'session'
        ? owner.session
        : lifetime === 'parent'
          ? parent
          : ''
  if (scoped === undefined || scoped === null) {
    return refusal(
      'lifetime_without_scope',
      `A lifetime of ${lifetime} needs a ${lifetime} to end with, and the process has none.`,
      `Give it a ${lifetime}, or another lifetime.`,
    )
  }
  return undefined
}
