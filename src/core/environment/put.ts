import { type Refusal, refusal } from '../refusal.ts'
import { type Session, sessionEnded, sessionUnknown } from '../session/session.ts'
import { APPENDS_BASE_PATH, type Environment } from './environment.ts'

/** How many environments a session has besides those of its processes; with one more it releases the oldest. */
export const MAX_SESSION_ENVIRONMENTS = 8
/** How long the text of an environment that a session stores may be. */
export const MAX_SESSION_ENVIRONMENT_CHARS = 256 * 1024

export interface PutEnvironmentFacts {
  readonly id: string
  readonly session: Session | null
  /** The environments that the session itself uses, the oldest first. */
  readonly used: readonly string[]
}

export type PutEnvironmentDecision =
  /** `released`: the session no longer uses these. */
  | { readonly type: 'put'; readonly released: readonly string[] }
  | { readonly type: 'keep' }
  | { readonly type: 'refuse'; readonly refusal: Refusal }

/** Plain variables give a session nothing that its own `spec.env` would not; names of secrets and a policy would. */
export function isForSessions({ variables, policy, options }: Environment): boolean {
  return (
    Object.values(variables).every((value) => typeof value === 'string') &&
    Object.keys(policy).length === 0 &&
    Object.entries(options).every(([name, value]) => name === APPENDS_BASE_PATH && typeof value === 'boolean')
  )
}

/** For an environment that a session stores. Environments in use by processes stay when their session releases them. */
export function decidePutEnvironment(
  { id, session, used }: PutEnvironmentFacts,
  { ref, chars }: { readonly ref: string; readonly chars: number },
): PutEnvironmentDecision {
  if (session === null) return { type: 'refuse', refusal: sessionUnknown(id) }
  if (session.endedAt !== null) return { type: 'refuse', refusal: sessionEnded(session) }
  if (chars > MAX_SESSION_ENVIRONMENT_CHARS) return { type: 'refuse', refusal: tooLarge(chars) }
  if (used.includes(ref)) return { type: 'keep' }
  return { type: 'put', released: used.slice(0, Math.max(0, used.length + 1 - MAX_SESSION_ENVIRONMENTS)) }
}

function tooLarge(chars: number): Refusal {
  return refusal(
    'payload_too_large',
    `The environment has ${chars} characters; a session may store at most ${MAX_SESSION_ENVIRONMENT_CHARS}.`,
    'Leave out long variables, or read them from a file.',
  )
}
