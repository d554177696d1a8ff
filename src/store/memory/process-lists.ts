import { isVisible, type Visibility } from '../../core/authority/visibility.ts'
import { isServed } from '../../core/lease/holder.ts'
import { isPlacedAt } from '../../core/placement/placement.ts'
import { matches } from '../../core/process/filter.ts'
import type { Pid } from '../../core/process/pid.ts'
import { hasEnded, targetOf } from '../../core/process/record.ts'
import type { ProcessRow } from '../../core/process/row.ts'
import { sessionsOf } from '../../core/session/sessions-above.ts'
import type { Activity, Page, Questions } from '../contract.ts'
import { dueOf } from '../due.ts'
import { pairKey } from './keys.ts'
import type { MemoryTables, NumberedRow } from './memory-tables.ts'

/** In order of registration: undoing a removal puts a row at the end of its map. */
export function rowsOf(tables: MemoryTables): NumberedRow[] {
  return [...tables.processes.values()].sort((a, b) => a.id - b.id)
}

export function listProcesses(
  tables: MemoryTables,
  { filter, visibleTo, newestFirst, after, limit }: Questions['processes'][0],
): Page<ProcessRow> {
  const rows = newestFirst === true ? rowsOf(tables).reverse() : rowsOf(tables)
  const isBeyond = (id: number) => after === null || (newestFirst === true ? id < after : id > after)
  const isListed = ({ id, row }: NumberedRow) =>
    isBeyond(id) && matches(row.record, filter) && isRowVisible(tables, row, visibleTo)
  return firstPage(rows.filter(isListed), limit)
}

export function pageOf(
  tables: MemoryTables,
  { after, limit }: { readonly after: number | null; readonly limit: number },
  isWanted: (row: ProcessRow) => boolean,
): Page<ProcessRow> {
  const rows = rowsOf(tables).filter(({ id, row }) => id > (after ?? 0) && isWanted(row))
  return firstPage(rows, limit)
}

export function pidsWith(
  tables: MemoryTables,
  { prefix, visibleTo, limit }: Questions['pids'][0],
): readonly Pid[] {
  return [...tables.processes.values()]
    .filter(({ row: { record } }) => record.pid.startsWith(prefix))
    .filter(({ row }) => isRowVisible(tables, row, visibleTo))
    .map(({ row }) => row.record.pid)
    .sort()
    .slice(0, limit)
}

export function claimable(tables: MemoryTables, question: Questions['claimable'][0]): readonly Pid[] {
  return dueIn(tables, question)
    .filter(({ due }) => due <= question.at)
    .slice(0, question.limit)
    .map(({ pid }) => pid)
}

export function nextDue(tables: MemoryTables, question: Questions['nextDue'][0]): number | null {
  const later = dueIn(tables, question)
    .map(({ due }) => due)
    .filter((due) => due > question.at)
  return later.length === 0 ? null : Math.min(...later)
}

export function unannounced(tables: MemoryTables): string[] {
  const holding = rowsOf(tables).flatMap(({ row }) => (row.holder === null ? [] : [row.holder]))
  return [...new Set(holding)].filter((id) => !tables.holders.has(id))
}

export function activity(tables: MemoryTables, { session, since }: Questions['activity'][0]): Activity {
  const live = rowsOf(tables)
    .map(({ row }) => row.record)
    .filter((record) => !hasEnded(record) && (session === null || sessionsOf(record).includes(session)))
    .filter(({ createdAt }) => createdAt >= (since ?? 0))
  const newestAt = live.length === 0 ? null : Math.max(...live.map(({ createdAt }) => createdAt))
  return { live: live.length, newestAt }
}

function dueIn(tables: MemoryTables, { serves, here }: Questions['nextDue'][0]) {
  return rowsOf(tables).flatMap(({ row }) => {
    const { pid, kind, spec, placement } = row.record
    const due = dueOf(row)
    if (due === null || !isPlacedAt(placement, here)) return []
    return isServed(serves, kind, targetOf(kind, spec)) ? [{ pid, due }] : []
  })
}

function isRowVisible(
  tables: MemoryTables,
  { record }: ProcessRow,
  visibleTo: Visibility | undefined,
): boolean {
  if (visibleTo === undefined) return true
  const isGranted = visibleTo.type === 'session' && tables.grants.has(pairKey(visibleTo.session, record.pid))
  return isVisible(record, visibleTo, isGranted)
}

function firstPage(rows: readonly NumberedRow[], limit: number): Page<ProcessRow> {
  const items = rows.slice(0, limit)
  return {
    items: items.map(({ row }) => row),
    next: items.length < limit ? null : (items.at(-1)?.id ?? null),
  }
}
