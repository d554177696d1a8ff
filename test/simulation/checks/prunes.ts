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
        if (isLive(above) && above?.record.kind !== 'command' && above?.record.kind !== 'external')
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
