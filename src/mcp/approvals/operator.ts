import type { ReeveVerbs } from '../../verbs/reeve.ts'
import type { Feed } from '../feed-watch.ts'

/** A person whose token is an operator's: the client reads all approvals, and answers them in the name of that person. */
export interface Operator {
  readonly name: `human:${string}`
  /** The verbs of the operator. Answers have the name of the person. */
  readonly acting: ReeveVerbs
  /** For following all changes in the background. */
  readonly feed: Feed
}
