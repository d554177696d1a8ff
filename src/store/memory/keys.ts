import type { StoredEvent } from '../../core/process/event.ts'
import type { Pid } from '../../core/process/pid.ts'
import type { MemoryTables } from './memory-tables.ts'

/** The key of a map whose rows have two key columns. */
export function pairKey(first: string, second: string): string {
  return JSON.stringify([first, second])
}

export function eventsOf(tables: MemoryTables, pid: Pid): readonly StoredEvent[] {
  return tables.events.get(pid)?.events ?? []
}

/** The refs of the environments that an actor uses, in the order in which it began to. */
export function environmentsOf(tables: MemoryTables, usedBy: string): string[] {
  return [...tables.environmentUses.values()]
    .filter(({ by }) => by === usedBy)
    .sort((a, b) => a.order - b.order)
    .map(({ ref }) => ref)
}
