import type { Json } from '../json/json.ts'
import type { Pid } from '../process/pid.ts'

/** Makes a process visible to a session. It gives no right to act. */
export interface Grant {
  readonly session: string
  readonly pid: Pid
  readonly descriptor: Json
  readonly at: number
}
