import { type Account, accountOf } from '../core/allowance/account.ts'
import type { Pid } from '../core/process/pid.ts'
import type { ProcessRow, Tombstone } from '../core/process/row.ts'
import { know, type Question } from '../store/contract.ts'
import { dropAccount } from './allowances.ts'
import type { Edges } from './edges.ts'
import { WorkingRows } from './working-rows.ts'

export interface PruneOptions {
  /** Counted from the end of a process. */
  readonly endedBefore?: number
  /** How many ended processes are kept whatever their age allows. */
  readonly keep?: number
}

const PAGE = 200

/** Removes ended processes with all that is about them; a tombstone keeps the fence and refuses the pid for ever. */
export async function prune(edges: Edges, { endedBefore, keep }: PruneOptions): Promise<Pid[]> {
  const pruned: Pid[] = []
  /** Old enough, but still needed: they stay at the head of every page. */
  let needed = 0
  for (;;) {
    const limit = PAGE + needed
    const rows = await edges.store.ask({
      ask: 'prunable',
      endedBefore: endedBefore ?? null,
      keep: keep ?? null,
      limit,
    })
    const gone = await pruneEach(edges, rows)
    pruned.push(...gone)
    if (rows.length < limit) return pruned
    needed = rows.length - gone.length
  }
}

function pruneEach(edges: Edges, rows: readonly ProcessRow[]): Promise<Pid[]> {
  return edges.store.write<Pid[]>(function* () {
    const gone: Pid[] = []
    const working = new WorkingRows()
    // All at once: a store that is far away answers them together.
    const known = (yield rows.map(({ record }) => ({
      ask: 'account' as const,
      id: accountOf(record.pid),
    }))) as (Account | null)[]
    for (const [index, { record }] of rows.entries())
      working.learnedAccount(accountOf(record.pid), known[index] ?? null)
    for (const { record } of rows) {
      const was = yield* know({ ask: 'process', pid: record.pid })
      if (was === null || was.record.outcome === null || (yield* isNeeded(was))) continue
      const tombstone: Tombstone = {
        pid: record.pid,
        fence: was.fence,
        endedAt: was.record.outcome.endedAt,
        prunedAt: edges.clock.now(),
      }
      yield* dropAccount(working, was.record)
      working.add([{ type: 'prune', was, tombstone }])
      const { envRef } = was.record
      if (envRef !== null)
        working.add([{ type: 'environment_unused', ref: envRef, by: `process:${record.pid}` }])
      gone.push(record.pid)
    }
    return { answer: gone, changes: working.changes }
  })
}

/** Until its stop has been carried to its children; and while its tree lives, for a stop passes through it. */
function* isNeeded({
  carry,
  record,
}: ProcessRow): Generator<readonly Question[], boolean, readonly unknown[]> {
  if (carry !== null) return true
  if (record.children === 0) return false
  const live = yield* know({ ask: 'processes', filter: { root: [record.root] }, after: null, limit: 1 })
  return live.items.length > 0
}
