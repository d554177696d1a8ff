import type { Amounts } from '../allowance/amounts.ts'
import type { Json, JsonObject } from '../json/json.ts'
import type { PlacementRequest } from '../placement/placement.ts'
import type { IfRunning } from './if-running.ts'
import type { Pid } from './pid.ts'
import type { EventType, Kind, Lifetime, Limits, Owner, Recovery } from './record.ts'

interface GrantRequest {
  readonly session: string
  readonly descriptor?: Json
}

/** What a caller asks for; everything that is left out gets a default. */
export interface RegistrationRequest {
  readonly kind: Kind
  readonly spec: JsonObject
  readonly name?: string
  readonly label?: string
  readonly definition?: Json
  readonly parent?: Pid
  readonly restartOf?: Pid
  /** Not to be begun before then. */
  readonly notBefore?: number
  readonly group?: { readonly id: string; readonly size: number; readonly index?: number }
  readonly owner?: Owner
  readonly causedBy?: JsonObject
  readonly replyTo?: Json
  readonly lifetime?: Lifetime
  readonly recovery?: Recovery
  readonly placement?: PlacementRequest
  readonly envRef?: string
  /** Of a command that names no environment: what its client runs in. Like `defaultCwd`, no part of what was asked. */
  readonly baseEnvRef?: string
  readonly cwd?: string
  /** Of a command that was given no folder and inherits none. Where it was asked for, and no part of what was asked. */
  readonly defaultCwd?: string
  readonly eventTypes?: { readonly [type: string]: EventType }
  readonly wakeTarget?: string
  readonly limits?: Partial<Omit<Limits, 'allowance'>>
  /** What it and all below it may use. What is left out is half of what is left of its parent's. */
  readonly allowance?: Amounts
  readonly grants?: readonly GrantRequest[]
  /** What happens if a process of this name lives in the scope of the owner. Without it a second one is registered. */
  readonly ifRunning?: IfRunning
}
