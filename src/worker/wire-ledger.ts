import type { Clock } from '../core/clock.ts'
import type { Environment } from '../core/environment/environment.ts'
import { resolveVariables, secretValue, type Variables } from '../core/environment/secrets.ts'
import { RefusedError } from '../core/errors.ts'
import { untypedEvent } from '../core/process/event.ts'
import type { Attempt } from '../kernel/attempt.ts'
import type { InputOf, OutputOf, Reeve } from '../verbs/reeve.ts'
import type { Ledger } from '../workflow/ledger.ts'

type Act = InputOf<'doWork'>['act']

/** Events per request when a journal is read. */
const PAGE_EVENTS = 1_000
/** How long one request may wait for a child; then the next one follows. */
const WAIT_MS = 60_000

/** The ledger of one process that a worker executes for a daemon. */
export function wireLedger(
  reeve: Reeve,
  attempt: Attempt,
  clock: Clock,
  { onEvents, sure }: Pick<Ledger, 'onEvents' | 'sure'>,
): Ledger {
  const { record, signal } = attempt
  const { pid } = record
  const act = (act: Act): Promise<OutputOf<'doWork'>> => {
    const { holder, fence } = attempt.fence()
    return reeve.doWork({ worker: holder, pid, fence, act })
  }
  const actForText = async (request: Act): Promise<string> => {
    const answer = await act(request)
    if (answer.type !== 'said') throw new Error(`${request.type} was answered with ${answer.type}`)
    return answer.text
  }
  const waitForOutcome: Ledger['waitForOutcome'] = async (child, over) => {
    for (;;) {
      const waited = await reeve.wait({ pid: child, timeoutMs: WAIT_MS }, { signal: over })
      if (waited.type === 'ended' && waited.record.outcome !== null) return waited.record.outcome
      if (over.aborted) throw over.reason
    }
  }
  return {
    record,
    clock,
    signal,
    onRequest: (listener) => attempt.onRequest(listener),
    lendSlot: () => attempt.lendSlot(),
    async events(after) {
      const answer = await act({ type: 'events', after, limit: PAGE_EVENTS })
      if (answer.type !== 'events') throw new Error(`events was answered with ${answer.type}`)
      return { events: answer.events.map(untypedEvent), isLast: answer.events.length === 0 }
    },
    // Events that may be masked are read again, unmasked.
    onEvents: (listener) =>
      onEvents((events) => listener(events === null || events.some(mayBeMasked) ? null : events)),
    async write(intent) {
      const answer = await act(intent as Act)
      if (answer.type === 'replayed') return { type: answer.type, event: untypedEvent(answer.event) }
      if (answer.type === 'appended' || answer.type === 'kept') return answer
      throw new Error(`${intent.type} was answered with ${answer.type}`)
    },
    async spawn(request, stepIndex) {
      const answer = await act({ type: 'spawn', request, stepIndex })
      if (answer.type !== 'spawned') throw new Error(`spawn was answered with ${answer.type}`)
      const { pid: child, kind, label } = answer
      return { pid: child, kind, label }
    },
    async findOutcome(child) {
      const { outcome } = await reeve.as(`process:${pid}`).show({ pid: child })
      return outcome === null || !mayBeMasked(outcome) ? outcome : waitForOutcome(child, signal)
    },
    waitForOutcome,
    park: async (waits) => (await act({ type: 'park', waits: waits as ParkedWaits })).type === 'parked',
    sure,
    keyFor: (wait) => actForText({ type: 'key', wait: wait as ParkedWaits[number] }),
    charge: async (charging) => void (await reeve.as(`process:${pid}`).charge({ pid, ...charging })),
    async sendMessage({ to, message, key }) {
      const { channel, correlationId, replyTo, priority, value } = message
      await reeve.as(`process:${pid}`).sendMessage({
        to,
        priority,
        value,
        ...(channel === null ? {} : { channel }),
        ...(correlationId === null ? {} : { correlationId }),
        ...(replyTo === null ? {} : { replyTo }),
        idempotencyKey: key,
      })
    },
    async variables() {
      const answer = await act({ type: 'environment' })
      if (answer.type !== 'environment') throw new Error(`environment was answered with ${answer.type}`)
      return variablesOf(answer.environment)
    },
    seed: () => actForText({ type: 'seed' }),
  }
}

/** The secrets in the daemon's home stay there: a worker takes secrets from the variables of its own program. */
function variablesOf(environment: Environment): Variables {
  const lookUp = (name: string) => secretValue(name, { secrets: {}, env: process.env })
  const resolved = resolveVariables(environment, lookUp)
  if (resolved.type === 'resolved') return resolved.variables
  const remedy = 'A worker takes secrets from its own variables: start it with them.'
  throw new RefusedError({ ...resolved.refusal, remedy })
}

/** Masks consist of stars: a value without stars is unmasked. */
function mayBeMasked(value: unknown): boolean {
  return JSON.stringify(value).includes('*')
}

type ParkedWaits = Extract<Act, { type: 'park' }>['waits']
