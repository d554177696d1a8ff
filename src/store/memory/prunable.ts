import { accountOf } from '../../core/allowance/account.ts'
import { acknowledgedThrough } from '../../core/inbox/inbox.ts'
import type { Pid } from '../../core/process/pid.ts'
import { referencesOf } from '../../core/process/prune.ts'
import { hasEnded, type ProcessRecord, targetOf } from '../../core/process/record.ts'
import type { EndKey, PruneCandidate, Questions, Storage } from '../contract.ts'
import type { MemoryTables, NumberedRow } from './memory-tables.ts'

/** Ended processes in the order of their ends. */
function endedRows(tables: MemoryTables): (EndKey & { readonly found: NumberedRow })[] {
  return [...tables.processes.values()]
    .flatMap((found) => {
      const { outcome } = found.row.record
      return outcome === null ? [] : [{ endedAt: outcome.endedAt, id: found.id, found }]
    })
    .sort(byEnd)
}

export function storage(tables: MemoryTables): Storage {
  const ended = endedRows(tables)
  return { ended: ended.length, oldestEndedAt: ended[0]?.endedAt ?? null, bytes: null }
}

export function pruneThrough(
  tables: MemoryTables,
  { endedBefore, keep }: Questions['pruneThrough'][0],
): EndKey | null {
  const ended = endedRows(tables)
  const beyond = keep === null ? 0 : Math.max(0, ended.length - keep)
  const old = endedBefore === null ? 0 : ended.filter(({ endedAt }) => endedAt < endedBefore).length
  const last = ended[Math.max(beyond, old) - 1]
  return last === undefined ? null : { endedAt: last.endedAt, id: last.id }
}

/** `before` is the last position before the transaction that asks. */
export function prunable(
  tables: MemoryTables,
  question: Questions['prunable'][0],
  before: number,
): PruneCandidate[] {
  const found =
    'pids' in question
      ? question.pids.flatMap((pid) => tables.processes.get(pid) ?? [])
      : endedRows(tables)
          .filter((row) => question.after === null || byEnd(row, question.after) > 0)
          .filter((row) => byEnd(row, question.through) <= 0)
          .slice(0, question.limit)
          .map((row) => row.found)
  const living = [...tables.processes.values()].filter(({ row }) => !hasEnded(row.record))
  const referenced = new Set([
    ...living.flatMap(({ row }) => referencesOf(row.record)),
    ...living.flatMap(({ row }) => shownByHandles(tables, row.record.pid)),
  ])
  const unread = unreadIn(tables)
  const parents = new Set([...tables.processes.values()].map(({ row }) => row.record.parent))
  const liveRoots = new Set(living.map(({ row }) => row.record.root))
  return found.map(({ id, row }): PruneCandidate => {
    const { pid, parent, root, outcome, owner, kind, spec } = row.record
    const live = liveParentOf(tables, parent)
    return {
      id,
      pid,
      parent,
      root,
      fence: row.fence,
      carry: row.carry,
      endedAt: outcome?.endedAt ?? null,
      isCommitted: (tables.events.get(pid)?.events.at(-1)?.position ?? 0) <= before,
      hasLiveTree: parents.has(pid) && liveRoots.has(root),
      liveParent: live?.kind ?? null,
      caller: live?.kind === 'agent' ? live.pid : null,
      toolCall: owner.toolCall ?? null,
      target: targetOf(kind, spec),
      isReferenced: referenced.has(pid),
      hasAccount: tables.accounts.has(accountOf(pid)),
      unreadAt: unread.get(pid) ?? null,
    }
  })
}

/** The processes whose objects a process sees by live handles. */
function shownByHandles({ objects }: MemoryTables, pid: Pid): Pid[] {
  return [...(objects.get(pid)?.values() ?? [])].flatMap((rows) => rows.at(-1)?.target ?? [])
}

/** Its parent, if that lives; or the live agent that called the ended tool above it. */
function liveParentOf({ processes }: MemoryTables, parent: Pid | null): ProcessRecord | null {
  const above = parent === null ? undefined : processes.get(parent)?.row.record
  if (above === undefined) return null
  if (!hasEnded(above)) return above
  const caller = above.kind === 'tool' && above.parent !== null ? processes.get(above.parent) : undefined
  const record = caller?.row.record
  return record === undefined || hasEnded(record) || record.kind !== 'agent' ? null : record
}

/** The time of the newest unread notice about each process. */
function unreadIn(tables: MemoryTables): Map<Pid, number> {
  const unread = new Map<Pid, number>()
  for (const [scope, told] of tables.notices) {
    if (!isLiveScope(tables, scope)) continue
    const through = acknowledgedThrough(tables.inboxes.get(scope) ?? null)
    for (const { pid, position, at, done } of told)
      if (done === null && position > through) unread.set(pid, Math.max(at, unread.get(pid) ?? 0))
  }
  return unread
}

function isLiveScope(tables: MemoryTables, scope: string): boolean {
  const [type, id = ''] = scope.split(/:(.*)/s)
  if (type === 'session') return tables.sessions.get(id)?.endedAt === null
  if (type !== 'process') return false
  const record = tables.processes.get(id)?.row.record
  return record !== undefined && !hasEnded(record)
}

function byEnd(a: EndKey, b: EndKey): number {
  return a.endedAt - b.endedAt || a.id - b.id
}
