import { isOfEarlierSegment } from '../core/agent/segment-calls.ts'
import type { Filter } from '../core/process/filter.ts'
import type { Pid } from '../core/process/pid.ts'
import { hasEnded, type ProcessRecord, targetOf } from '../core/process/record.ts'
import type { Edges } from './edges.ts'
import { type PruneBatch, pruneInBatches } from './prune.ts'

const PAGE = 250

/**
 * Prunes the tool calls of a live agent that are before its live segment and ended before a time, with the commands that they started. The
 * session log keeps their inputs and results. What has to be kept all the same, is: see `keepReason`.
 */
export async function* pruneEarlierSegments(
  edges: Edges,
  agent: Pid,
  endedBefore: number,
): AsyncGenerator<PruneBatch> {
  const row = await edges.store.ask({ ask: 'process', pid: agent })
  if (row === null || hasEnded(row.record) || row.record.agent?.segment.keeps === undefined) return
  const isOld = ({ outcome }: ProcessRecord) => outcome !== null && outcome.endedAt < endedBefore
  const calls: ProcessRecord[] = []
  for await (const record of recordsOf(edges, { parent: [agent], kind: ['tool'], status: 'any' })) {
    const { owner, kind, spec } = record
    const called = { toolCall: owner.toolCall ?? null, target: targetOf(kind, spec) }
    if (isOld(record) && isOfEarlierSegment(row.record, called)) calls.push(record)
  }
  const parents = calls.filter(({ children }) => children > 0).map(({ pid }) => pid)
  const started: Pid[] = []
  for (let next = 0; next < parents.length; next += PAGE) {
    const filter = { parent: parents.slice(next, next + PAGE), status: 'any' } as const
    for await (const record of recordsOf(edges, filter)) if (isOld(record)) started.push(record.pid)
  }
  // A call with children goes after them.
  if (started.length > 0) yield* pruneInBatches(edges, { pids: started, by: 'limits' })
  if (calls.length > 0) yield* pruneInBatches(edges, { pids: calls.map(({ pid }) => pid), by: 'limits' })
}

async function* recordsOf({ store }: Edges, filter: Filter): AsyncGenerator<ProcessRecord> {
  for (let after: number | null = null; ; ) {
    const page: { items: readonly { record: ProcessRecord }[]; next: number | null } = await store.ask({
      ask: 'processes',
      filter,
      after,
      limit: PAGE,
    })
    for (const { record } of page.items) yield record
    if (page.next === null) return
    after = page.next
  }
}
