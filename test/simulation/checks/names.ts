import { hasEnded } from '../../../src/core/process/record.ts'
import type { Check, Ledger } from '../ledger.ts'
import type { Stage } from '../stage.ts'

/** Every request for this name has `ifRunning`. */
export const KEPT_NAME = 'only'

/** A kept name has at most one live process per session, and one without a session. */
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
