import type { JsonObject } from '../json/json.ts'
import type { Pid } from '../process/pid.ts'

/** Only a pending approval can be answered, withdrawn or expire. */
export type ApprovalState = 'pending' | 'answered' | 'withdrawn' | 'expired'

/** A request to a person, and the answer. */
export interface Approval {
  readonly id: string
  /** The process that waits for it. It is removed with that process. */
  readonly pid: Pid
  readonly state: ApprovalState
  readonly askedAt: number
  /** The person who is asked; null if any person may answer. */
  readonly person: string | null
  readonly expiresAt: number | null
  /** When surfaces push it to people; null once that has happened. */
  readonly pushAt: number | null
  readonly request: JsonObject
  readonly answer: JsonObject | null
}
