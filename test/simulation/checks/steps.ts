import { isMemoryJob } from '../../../src/core/memory/memory-spec.ts'
import type { Outcome } from '../../../src/core/process/record.ts'
import type { Check } from '../ledger.ts'
import { payloadOf } from '../payload.ts'
import type { Stage } from '../stage.ts'

/** Each step is in the log once, written by the holder of the process; and the end of the process is its result. */
export function checkSteps(stage: Stage): Check {
  const stepIndexes = new Map<string, Set<number>>()
  /** A simulated function never fails by itself: it completes, is stopped, or is given up. */
  const checkEnd = (pid: string, { status, reason, result }: Outcome) => {
    const isOwn = status === 'completed' && Array.isArray(result)
    const isGivenUp = status === 'failed' && /^(attempts_exhausted|limit:)/.test(String(reason))
    if (!isOwn && !isGivenUp && status !== 'cancelled' && status !== 'abandoned')
      stage.violated('trouble is no outcome', `${pid} ended as ${status}: ${reason}`)
  }
  return {
    process(_change, before, stored) {
      for (const { pid, type, payload } of stored) {
        if (type === 'parked' && before?.row.holder !== (payload as { holder: string }).holder)
          stage.violated('one executor', `${pid} was parked by another than its holder`)
        const outcome = payloadOf({ type, payload }, 'ended')
        const ended = outcome === undefined ? undefined : before?.row.record
        // A job of memory may fail: its model is simulated, too.
        if (outcome !== undefined && ended?.kind === 'workflow' && !isMemoryJob(ended)) checkEnd(pid, outcome)
        if (type !== 'step_ended') continue
        const { stepIndex } = payload as { stepIndex: number }
        const known = stepIndexes.get(pid) ?? new Set()
        stepIndexes.set(pid, known)
        if (known.has(stepIndex))
          stage.violated('a step is in the log once', `${pid} has step ${stepIndex} twice`)
        if (before?.row.holder == null)
          stage.violated('one executor', `${pid} took step ${stepIndex} without a holder`)
        known.add(stepIndex)
      }
    },
  }
}
