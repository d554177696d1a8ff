import type { Change } from '../core/change.ts'
import type { Environment } from '../core/environment/environment.ts'
import { decidePutEnvironment, isForSessions, MAX_SESSION_ENVIRONMENTS } from '../core/environment/put.ts'
import { RefusedError, StoreError } from '../core/errors.ts'
import { canonical } from '../core/json/canonical.ts'
import { asJson } from '../core/json/json.ts'
import type { Actor } from '../core/process/record.ts'
import { type Refusal, refusal } from '../core/refusal.ts'
import { know, type Plan } from '../store/contract.ts'
import { refuseAct } from './audit.ts'
import type { Edges } from './edges.ts'

const RETRY_MS = 500

/** The environment of a starting process. Retries while the store is unavailable: an outage must not end the process. */
export async function environmentFor(edges: Edges, ref: string, signal: AbortSignal): Promise<Environment> {
  for (;;) {
    try {
      const environment = await edges.store.ask({ ask: 'environment', ref })
      if (environment !== null) return environment
      const remedy = 'Store it with putEnvironment, and start the process again.'
      throw new RefusedError(refusal('environment_unknown', `There is no environment ${ref}.`, remedy))
    } catch (error) {
      if (!(error instanceof StoreError) || signal.aborted) throw error
    }
    await new Promise<void>((resolve) => void edges.clock.after(RETRY_MS, resolve))
  }
}

/** Stores an environment under the hash of its content. It is kept while a process or a session uses it. */
export async function putEnvironment(edges: Edges, actor: Actor, environment: Environment): Promise<string> {
  const text = canonical(asJson(environment))
  const ref = edges.hash(text)
  const changes: readonly Change[] = [
    { type: 'environment', ref, environment },
    { type: 'environment_used', ref, by: actor },
  ]
  if (actor.startsWith('session:') && isForSessions(environment)) {
    const refused = await edges.store.write(sessionPlan(actor, { ref, chars: text.length }, changes))
    if (refused !== null) throw new RefusedError(refused)
    return ref
  }
  const denied = edges.authorize(actor, 'write', { type: 'store' })
  await refuseAct(edges, denied, { actor, action: 'putEnvironment', target: 'store' })
  await edges.store.write(function* () {
    yield []
    return { answer: undefined, changes }
  })
  return ref
}

function sessionPlan(
  actor: Actor,
  put: { readonly ref: string; readonly chars: number },
  changes: readonly Change[],
): Plan<Refusal | null> {
  const id = actor.slice('session:'.length)
  return function* () {
    const session = yield* know({ ask: 'session', id })
    const used = yield* know({ ask: 'environments', usedBy: actor, limit: MAX_SESSION_ENVIRONMENTS + 1 })
    const decision = decidePutEnvironment({ id, session, used }, put)
    if (decision.type === 'refuse') return { answer: decision.refusal, changes: [] }
    if (decision.type === 'keep') return { answer: null, changes: [] }
    const released = decision.released.map((ref): Change => ({ type: 'environment_unused', ref, by: actor }))
    return { answer: null, changes: [...changes, ...released] }
  }
}
