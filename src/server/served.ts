import type { Actor } from '../core/process/record.ts'
import type { Reeve, ReeveVerbs } from '../verbs/reeve.ts'

/** What a server serves: everything Reeve does, and how far its change feed has come. */
export interface Served extends Reeve {
  position(): number
  /** Whether it can do its work now. Rejects if the store does not answer. Costs little: it counts nothing, unlike `status`. */
  readiness(): Promise<Readiness>
  /** Acts as somebody else, and only looks: nothing changes, neither inboxes nor read positions. */
  observing(actor: Actor): ReeveVerbs
}

export interface Readiness {
  readonly isStoreWritable: boolean
  /** True where no commands are run. */
  readonly isKeeperAvailable: boolean
}

/** Where a server tells what it does. Each line has its facts apart from its words. */
export interface Log {
  debug(facts: object, words: string): void
  info(facts: object, words: string): void
  warn(facts: object, words: string): void
  error(facts: object, words: string): void
}
