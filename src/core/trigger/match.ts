import { isObject } from '../../base/is-object.ts'
import { sameJson } from '../json/canonical.ts'
import type { Json, JsonObject } from '../json/json.ts'
import type { StoredEvent } from '../process/event.ts'
import { matches } from '../process/filter.ts'
import type { ProcessRecord } from '../process/record.ts'
import { sessionsOf } from '../session/sessions-above.ts'
import { type EventSource, MAX_CHAIN, triggersOfSessions, type WebhookSource } from './trigger.ts'

/** Whether an event of this process starts a trigger, besides its right to read the process and its chain. */
export function matchesEvent(
  source: EventSource,
  { type, payload }: StoredEvent,
  record: ProcessRecord,
): boolean {
  if (!source.on.includes(type)) return false
  const { outcome, kind, name, label, session } = source
  if (type === 'ended' && outcome !== undefined) {
    const status = isObject(payload) ? payload['status'] : undefined
    if (!outcome.some((one) => one === status)) return false
  }
  return matches(record, {
    status: 'any',
    ...(kind === undefined ? {} : { kind }),
    ...(name === undefined ? {} : { name }),
    ...(label === undefined ? {} : { label }),
    ...(session === undefined ? {} : { sessionTree: session }),
  })
}

/**
 * Whether a process belongs to occurrences that the trigger led to, by itself or through others: their events do not start it, or
 * it would start itself for ever. `chain`: of the root of the process.
 */
export function isOwnDoing(trigger: string, record: ProcessRecord, chain: readonly string[]): boolean {
  const inSessions = triggersOfSessions(sessionsOf(record))
  return inSessions.includes(trigger) || chain.includes(trigger) || chain.length >= MAX_CHAIN
}

/** Whether each named member of the body has the wanted value. */
export function matchesBody(filter: WebhookSource['filter'], body: Json): boolean {
  return Object.entries(filter).every(([path, wanted]) => {
    const value = memberAt(body, path)
    return value !== undefined && sameJson(value, wanted)
  })
}

/** `a.b.0`: names of members and indexes of lists, with dots between them. */
function memberAt(body: Json, path: string): Json | undefined {
  let value: Json | undefined = body
  for (const step of path.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return undefined
    value = (value as JsonObject)[step]
  }
  return value
}
