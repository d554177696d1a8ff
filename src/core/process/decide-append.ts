import { sameJson } from '../json/canonical.ts'
import { own } from '../json/json.ts'
import { refusal } from '../refusal.ts'
import {
  alreadyEnded,
  type Decision,
  type Facts,
  needsFence,
  type Rules,
  refuse,
  refuseSize,
  replayConflict,
} from './decision.ts'
import { isReserved } from './event.ts'
import type { Intent } from './intent.ts'
import { hasEnded } from './record.ts'

/** An event of a type that the process declared. */
export function decideAppend(
  { row, replayed }: Facts,
  intent: Extract<Intent, { type: 'append' }>,
  rules: Rules,
): Decision {
  const { record } = row
  if (replayed !== null) {
    const same = replayed.type === intent.event && sameJson(replayed.payload, intent.payload)
    return same ? { type: 'replay', event: replayed } : refuse(replayConflict(record, intent.replayKey ?? ''))
  }
  if (hasEnded(record)) return refuse(alreadyEnded(record))
  // The log of an agent is written by its executor alone, also while the agent is idle.
  if (intent.fence !== null || row.holder !== null || record.agent !== null) {
    const unfenced = needsFence(row, intent.fence)
    if (unfenced) return refuse(unfenced)
  }
  const type = own(record.eventTypes, intent.event)
  if (type === undefined) {
    return refuse(
      refusal(
        'undeclared_event',
        isReserved(intent.event)
          ? `${intent.event} is one of Reeve's own event types.`
          : `${record.pid} declares no event type ${intent.event}.`,
        `Declare it in eventTypes at registration${declaredTypes(record.eventTypes)}.`,
      ),
    )
  }
  if (type.end !== undefined && intent.replayKey === null) {
    return refuse(
      refusal(
        'replay_key_required',
        `${intent.event} ends ${record.pid}, so it must carry a replay key.`,
        'Give it one, so that a repetition is recognised.',
      ),
    )
  }
  const misfit = rules.validate(type.schema, intent.payload)
  if (misfit !== undefined) {
    return refuse(
      refusal(
        'payload_mismatch',
        `The payload of ${intent.event} does not fit its schema: ${misfit}.`,
        'Send a payload that fits, or declare another schema.',
      ),
    )
  }
  const tooLarge = refuseSize(`The payload of ${intent.event}`, intent.payload, rules)
  if (tooLarge !== undefined) return refuse(tooLarge)
  const events = [{ type: intent.event, payload: intent.payload, replayKey: intent.replayKey }]
  return type.end === undefined
    ? { type: 'append', events }
    : { type: 'append', events, lease: { holder: null, fence: row.fence } }
}

function declaredTypes(types: { readonly [type: string]: unknown }): string {
  const names = Object.keys(types)
  return names.length === 0 ? '' : ` (it declares ${names.join(', ')})`
}
