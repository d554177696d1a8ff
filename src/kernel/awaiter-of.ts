import { isMemoryJob } from '../core/memory/memory-spec.ts'
import type { Actor } from '../core/process/record.ts'
import type { Work } from './executor.ts'

/**
 * The actor that waits for the ends of other processes in this attempt. A job of memory is Reeve's own code, and waits for a job beside it,
 * which no process may read.
 */
export function awaiterOf(work: Work): Actor {
  return isMemoryJob(work.record) ? `kernel:${work.fence().holder}` : `process:${work.record.pid}`
}
