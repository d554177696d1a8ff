import type { ReeveVerbs } from '../../verbs/reeve.ts'
import type { Feed } from '../feed-watch.ts'
import type { AnswerVerbs } from './person-here.ts'

/** A person whose token is an operator's: the client reads all approvals, and answers them in the name of that person. */
export interface Operator {
  readonly name: `human:${string}`
  /** The verbs of the operator, for reading. */
  readonly acting: ReeveVerbs
  /** Answers in the name of the person. `sessions`: those in which the model of this client acts. */
  answering(sessions: readonly string[]): AnswerVerbs
  /** For following all changes in the background. */
  readonly feed: Feed
}
