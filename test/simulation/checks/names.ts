import { hasEnded } from '../../../src/core/process/record.ts'
import type { Check, Ledger } from '../ledger.ts'
import type { Stage } from '../stage.ts'

/** Every request for it says `ifRunning`. */
export const KEPT_NAME = 'only'

/** Of a name that every request keeps, none is registered beside one that lives in the same session, or outside of all. */
export function checkNames(stage: Stage, ledger: Ledger): Check {
  return {
    process({ row: { record } }, before) {
      if (before !== undefined || record.name !== KEPT_NAME) return
      const other = [...ledger.processes.values()].find(
        (one) =>
          one.record.name === KEPT_NAME &&
          one.record.owner.session === record.owner.session &&
          !hasEnded(one.record),
      )
      if (other !== undefined && other.pid !== record.pid)
        stage.violated('a kept name has one process', `${record.pid} was registered beside ${other.pid}`)
    },
  }
}
