import type { Pid } from '../core/process/pid.ts'
import { hasEnded } from '../core/process/record.ts'
import { know } from '../store/contract.ts'
import type { Edges } from './edges.ts'

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
  for (;;) {
    const rows = await edges.store.ask({
      ask: 'prunable',
      endedBefore: endedBefore ?? null,
      keep: keep ?? null,
      limit: PAGE,
    })
    const done = await edges.store.write<Pid[]>(function* () {
      const gone: Pid[] = []
      const changes = []
      for (const { record } of rows) {
        const was = yield* know({ ask: 'process', pid: record.pid })
        // A process that still has to stop its children is needed until it has.
        if (was === null || was.record.outcome === null || !hasEnded(was.record) || was.carry !== null)
          continue
        const tombstone = {
          pid: record.pid,
          fence: was.fence,
          endedAt: was.record.outcome.endedAt,
          prunedAt: edges.clock.now(),
        }
        changes.push({ type: 'prune', was, tombstone } as const)
        gone.push(record.pid)
      }
      return { answer: gone, changes }
    })
    pruned.push(...done)
    if (rows.length < PAGE || done.length === 0) return pruned
  }
}
