import { isPlacedAt, type Placement, placementsOf } from '../../../src/core/placement/placement.ts'
import type { Check } from '../ledger.ts'
import { payloadOf } from '../payload.ts'
import type { Stage } from '../stage.ts'

/** A process is started only by a holder at its placement, according to the holder's row. */
export function checkPlacement(stage: Stage): Check {
  const holders = new Map<string, readonly Placement[]>()

  return {
    other(change) {
      if (change.type === 'holder') holders.set(change.holder.id, placementsOf([change.holder]))
    },
    process({ row }, _before, stored) {
      const { pid, placement } = row.record
      for (const event of stored) {
        const holder = payloadOf(event, 'started')?.holder
        const here = holder === undefined ? undefined : holders.get(holder)
        if (here !== undefined && !isPlacedAt(placement, here))
          stage.violated('it runs where it was placed', `${pid}, of ${placement}, was begun by ${holder}`)
      }
    },
  }
}
