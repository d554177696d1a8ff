import { isPlacedAt, type Placement, placementsOf } from '../../../src/core/placement/placement.ts'
import type { Check } from '../ledger.ts'
import type { Stage } from '../stage.ts'

/** The holder that begins a process is where that is placed, by what its own row says of it. */
export function checkPlacement(stage: Stage): Check {
  const holders = new Map<string, readonly Placement[]>()

  return {
    other(change) {
      if (change.type === 'holder') holders.set(change.holder.id, placementsOf([change.holder]))
    },
    process({ row }, _before, stored) {
      const { pid, placement } = row.record
      for (const { type, payload } of stored) {
        if (type !== 'started') continue
        const { holder } = payload as { readonly holder: string }
        const here = holders.get(holder)
        if (here !== undefined && !isPlacedAt(placement, here))
          stage.violated('it runs where it was placed', `${pid}, of ${placement}, was begun by ${holder}`)
      }
    },
  }
}
