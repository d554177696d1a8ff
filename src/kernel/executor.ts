import type { Served } from '../core/lease/holder.ts'
import type { Fence } from '../core/lease/lease.ts'
import type { Ending } from '../core/process/intent.ts'
import type { ProcessRecord } from '../core/process/record.ts'
import type { Kernel } from './kernel.ts'

/**
 * The code that runs one kind of process. The kernel claims, calls `run`, keeps the lease, and ends the process with
 * what `run` answers; a thrown error is the outcome `failed` (or `cancelled`, where a stop was asked for).
 */
export interface Executor {
  readonly serves: readonly Served[]
  run(work: Work, kernel: Kernel): Promise<Ending>
}

/** One process in one attempt, in the hands of its executor. */
export interface Work {
  /** The record as it was when this attempt began. */
  readonly record: ProcessRecord
  /** Aborted when a stop is asked for, or the lease is lost; its reason says which. */
  readonly signal: AbortSignal
  /** What every write of this attempt must carry. It may rise during the attempt, so ask for it each time. */
  fence(): Fence
}
