import type { StoredEvent } from '../../core/process/event.ts'
import type { Questions } from '../contract.ts'
import { eventsOf } from './keys.ts'
import type { MemoryTables } from './memory-tables.ts'

export function objectEvent(
  tables: MemoryTables,
  { pid, name, through }: Questions['objectEvent'][0],
): StoredEvent | null {
  return objectVersions(tables, { pid, name, through, limit: 1 })[0] ?? null
}

export function objectEvents(
  tables: MemoryTables,
  { pid, prefix, after, through, limit }: Questions['objectEvents'][0],
): StoredEvent[] {
  return [...(tables.objects.get(pid)?.keys() ?? [])]
    .filter((name) => name.startsWith(prefix) && (after === null || name > after))
    .sort()
    .flatMap((name) => objectEvent(tables, { pid, name, through }) ?? [])
    .slice(0, limit)
}

export function objectVersions(
  tables: MemoryTables,
  { pid, name, through, limit }: Questions['objectVersions'][0],
): StoredEvent[] {
  const events = eventsOf(tables, pid)
  return (tables.objects.get(pid)?.get(name) ?? [])
    .filter(({ seq }) => seq <= through)
    .slice(-limit)
    .reverse()
    .flatMap(({ seq }) => events[seq - 1] ?? [])
}
