import type { Amounts } from '../allowance/amounts.ts'
import { canonical } from '../json/canonical.ts'
import { asJson, type Json, type JsonObject } from '../json/json.ts'
import type { ViewRequest } from '../object/view.ts'
import type { PlacementRequest } from '../placement/placement.ts'
import type { IfRunning } from './if-running.ts'
import type { Pid } from './pid.ts'
import type { EventType, Kind, Lifetime, Limits, Owner, Recovery } from './record.ts'

interface GrantRequest {
  readonly session: string
  readonly descriptor?: Json
}

/** The request of a caller; every missing field gets a default. */
export interface RegistrationRequest {
  readonly kind: Kind
  readonly spec: JsonObject
  readonly name?: string
  readonly label?: string
  readonly definition?: Json
  readonly parent?: Pid
  readonly restartOf?: Pid
  /** The earliest start. */
  readonly notBefore?: number
  readonly group?: { readonly id: string; readonly size: number; readonly index?: number }
  readonly owner?: Owner
  readonly causedBy?: JsonObject
  readonly replyTo?: Json
  readonly lifetime?: Lifetime
  readonly recovery?: Recovery
  readonly placement?: PlacementRequest
  readonly envRef?: string
  /** Of a command that names no environment: that of its client. Like `defaultCwd`, not part of the registration's identity. */
  readonly baseEnvRef?: string
  readonly cwd?: string
  /** Of a command without a folder that inherits none: that of its client. Not part of the registration's identity. */
  readonly defaultCwd?: string
  readonly eventTypes?: { readonly [type: string]: EventType }
  readonly wakeTarget?: string
  readonly limits?: Partial<Omit<Limits, 'allowance'>>
  /** The allowance of the process and its descendants. A missing name gets half of the parent's rest. */
  readonly allowance?: Amounts
  /** The most that it and everything below it may do. */
  readonly ceiling?: { readonly rules: readonly JsonObject[] }
  readonly grants?: readonly GrantRequest[]
  /** The rule for a live process of the same name in the owner's scope. Without it a second one is registered. */
  readonly ifRunning?: IfRunning
  /** Of a fork: which objects of another process it sees. */
  readonly view?: ViewRequest
  /** Why the caller wants it, for the person who is asked about it. Not part of the registration's identity. */
  readonly reason?: string
}

/** The text whose hash is a registration's identity: the caller's request, before defaults, without trace data. */
export function registrationText(request: RegistrationRequest): string {
  const { causedBy, defaultCwd: _folder, baseEnvRef: _base, reason: _why, ...rest } = request
  const { traceparent: _trace, tracestate: _state, ...cause } = causedBy ?? {}
  const asked = Object.keys(cause).length === 0 ? rest : { ...rest, causedBy: cause }
  return canonical(asJson(inFormerWords(asked)))
}

/**
 * The kind `workflow` was called `engine` when hashes were first stored. Hashes keep the former words, so that a retry with an
 * idempotency key of that time still finds its process.
 */
function inFormerWords<Asked extends Pick<RegistrationRequest, 'kind' | 'spec'>>(asked: Asked): object {
  if (asked.kind !== 'workflow') return asked
  const { workflow, ...spec } = asked.spec
  return { ...asked, kind: 'engine', spec: { ...spec, engine: workflow } }
}
