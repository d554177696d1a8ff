import type { OpenLogs } from '../../output-log/open-logs.ts'
import type { Cgroups } from '../tree/cgroups.ts'
import type { FifoPool } from './fifo-pool.ts'
import type { UsageLimits } from './usage-limits.ts'
import type { UsageSamples } from './usage-samples.ts'

/** The services of the keeper that programs use. */
export interface ProgramContext {
  readonly homeId: string
  /** The folder of output logs. */
  readonly output: string
  readonly openLogs: OpenLogs
  readonly fifos: FifoPool
  readonly cgroups: Cgroups | null
  readonly usageLimits: UsageLimits
  readonly usageSamples: UsageSamples
  trouble(pid: string, message: string): void
}
