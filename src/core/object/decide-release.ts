import { alreadyEnded, type NewEvent, newEvent } from '../process/decision.ts'
import { hasEnded, type ProcessRecord } from '../process/record.ts'
import type { Refusal } from '../refusal.ts'
import { type FoundObject, lacksRight, noObject } from './found.ts'

/** Removes a name from the view of a process. Forks that began earlier, and handles of others, keep what they see. */
export function decideRelease(
  record: ProcessRecord,
  found: FoundObject | null,
  name: string,
): NewEvent | Refusal {
  if (hasEnded(record)) return alreadyEnded(record)
  if (found === null) return noObject(record.pid, name)
  // Every process may drop a handle of its own; what a base shows is dropped only where it could be overwritten.
  if (!found.isOwn && !found.rights.includes('write')) return lacksRight(record.pid, found, 'write')
  const { version } = found.version
  return newEvent({ type: 'object_released', payload: { name, version } })
}
