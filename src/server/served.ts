import type { Actor } from '../core/process/record.ts'
import type { Reeve, ReeveVerbs } from '../verbs/reeve.ts'

/** What a server serves: everything Reeve does, and how far its change feed has come. */
export interface Served extends Reeve {
  position(): number
  /** Acts as somebody else, and only looks: nothing changes, neither inboxes nor read positions. */
  observing(actor: Actor): ReeveVerbs
}

/** Where a server tells what it does. Each line has its facts apart from its words. */
export interface Log {
  debug(facts: object, words: string): void
  info(facts: object, words: string): void
  warn(facts: object, words: string): void
  error(facts: object, words: string): void
}
