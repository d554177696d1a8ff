import type { Pid } from '../../../src/core/process/pid.ts'
import type { Check, Entry, Ledger } from '../ledger.ts'
import type { Stage } from '../stage.ts'

/** Only processes that ended before this commit are pruned, and none that a live process still needs. */
export function checkPrunes(stage: Stage, ledger: Ledger): Check {
  const written = new Set<Pid>()
  const isLive = (entry: Entry | undefined) => entry !== undefined && entry.record.outcome === null
  return {
    process(change, _before, stored) {
      if (stored.length > 0) written.add(change.row.record.pid)
    },

    other(change) {
      if (change.type !== 'prune') return
      const living = [...ledger.processes.values()].filter(isLive)
      for (const { pid } of change.tombstones) {
        const entry = ledger.processes.get(pid)
        if (isLive(entry)) stage.violated('a live process is never pruned', pid)
        if (written.has(pid)) stage.violated('an end can be read before it is pruned', pid)
        const parent = entry?.record.parent ?? null
        const above = parent === null ? undefined : ledger.processes.get(parent)
        const isClosed = entry !== undefined && above !== undefined && isClosedCall(entry, above)
        const finds = above?.record.kind !== 'command' && above?.record.kind !== 'external'
        if (isLive(above) && finds && !isClosed)
          stage.violated('what a live process needs is not pruned', `${pid} is a child of ${parent}`)
        for (const { record } of living) {
          const waits = record.wait === null ? record.moreWaits : [record.wait, ...record.moreWaits]
          if (record.restartOf === pid || waits.some(({ on, name }) => on === 'child' && name === pid))
            stage.violated('what a live process needs is not pruned', `${record.pid} refers to ${pid}`)
        }
      }
    },

    committed() {
      written.clear()
    },
  }
}

/** A tool call of an agent that is before the live segment. Its name is the pid, the turn, the call and the index. */
function isClosedCall({ record: { owner } }: Entry, { record: { agent } }: Entry): boolean {
  const keeps = agent?.segment.keeps
  const [, turn = Number.NaN, call = Number.NaN] = (owner.toolCall ?? '').split('.').map(Number)
  if (keeps === undefined) return false
  return turn < keeps.turn || (turn === keeps.turn && call < keeps.call)
}
