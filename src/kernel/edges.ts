import type { Authorize } from '../core/authority/authorize.ts'
import type { Machine } from '../core/capability/folder-subjects.ts'
import type { Preset } from '../core/capability/presets.ts'
import type { Clock } from '../core/clock.ts'
import type { HolderRow, Proof } from '../core/lease/holder.ts'
import type { ModelDefaults } from '../core/model/default-model.ts'
import type { Rules } from '../core/process/decision.ts'
import type { Pid } from '../core/process/pid.ts'
import type { Actor } from '../core/process/record.ts'
import type { CronTimetable } from '../core/schedule/timetable.ts'
import type { Store } from '../store/contract.ts'
import type { AgentDefaults, AgentFileReader } from './agent-file-reader.ts'
import type { FileSets } from './file-sets.ts'
import type { Workspaces } from './workspaces.ts'

/** Everything the kernel cannot do by itself. The simulator simulates all of it except the store. */
export interface Edges {
  readonly store: Store
  readonly clock: Clock
  /** Between 0 and 1. */
  readonly random: () => number
  readonly newPid: () => Pid
  readonly newId: () => string
  /** A pid that depends on the text alone. */
  readonly pidOf: (text: string) => Pid
  /** The pid of an actor's idempotency key: the same in every kernel of this store, and no outsider can compute it. */
  readonly pidForKey: (actor: Actor, key: string) => Pid | Promise<Pid>
  /** Hex text of a collision-free hash. */
  readonly hash: (text: string) => string
  /** Hex text that cannot be made without the secret. */
  readonly sign: (secret: string, text: string) => string
  /** Compares in constant time. */
  readonly sameText: (a: string, b: string) => boolean
  /** The evidence of this machine about a holder, apart from its row. */
  readonly prove: (holder: HolderRow) => Proof
  /** Removes the files of a dead holder on this machine, such as its lock file. */
  readonly cleanUpAfter?: (holder: string) => void
  readonly authorize: Authorize
  readonly rules: Rules
  /** Computes cron expressions. Within a plan it may throw, if the plan is repeated once it can compute. */
  readonly cron?: CronTimetable
  /** Resolves when it can compute. */
  readonly loadCron?: () => Promise<void>
  /** The preset that every new session gets. */
  readonly sessionPreset?: Preset
  readonly machine?: Machine
  /** The policy files of folders on this host; without it none are read. */
  readonly workspaces?: Workspaces
  /** The files of this host that define something for agents; without it none are read. */
  readonly agentFiles?: AgentFileReader
  readonly agentDefaults?: AgentDefaults
  /** The model of an agent for which neither its request nor its image names one. */
  readonly modelDefaults?: () => ModelDefaults
  /** Sets of files on this host; without it no trigger watches any. */
  readonly fileSets?: FileSets
  /** The key that signs the start of a pruned audit, kept outside of the store; null where there is no home for it. */
  readonly auditKey?: () => string | null
  /** Called after entries were appended to the audit: its end is noted outside of the store. */
  readonly onAudited?: () => void
  /** Gets the errors of background work, which no caller waits for. */
  readonly onTrouble: (error: unknown, doing: string) => void
}
