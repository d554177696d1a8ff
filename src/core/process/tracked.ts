import { type Refusal, refusal } from '../refusal.ts'
import type { Actor, ProcessRecord, StopHow } from './record.ts'
import type { RegistrationRequest } from './register.ts'

/** The OS process behind an external process that Reeve did not start. `spec.process` of the record. */
export interface TrackedProcess {
  readonly osPid: number
  readonly startTime: string
  readonly boot: string
  /** Which machine: a kernel elsewhere can tell nothing of it. */
  readonly host: string
  /** PIDs can be compared only within one PID namespace. */
  readonly pidNamespace: string
}

/** Null for a process without an OS identity. */
export function trackedOf({ kind, spec }: Pick<ProcessRecord, 'kind' | 'spec'>): TrackedProcess | null {
  const tracked = kind === 'external' ? spec['process'] : undefined
  return tracked === undefined ? null : (tracked as unknown as TrackedProcess)
}

/** Which signal delivers a stop to a tracked process. A kill asks first; what forces it follows after the grace. */
export function stopSignalOf(how: StopHow): 'SIGINT' | 'SIGTERM' {
  return how === 'interrupt' ? 'SIGINT' : 'SIGTERM'
}

/** Reeve signals what it tracks, so only the host may name a PID: a session could otherwise have any process ended. */
export function refuseTracking(request: RegistrationRequest, actor: Actor): Refusal | undefined {
  if (trackedOf(request) === null) return undefined
  if (actor !== 'host') {
    return refusal(
      'denied',
      `${actor} may not have a PID tracked.`,
      'Ask the user who runs Reeve to track it: reeve track <PID>.',
    )
  }
  if (request.restartOf === undefined) return undefined
  return refusal(
    'not_ours',
    `${request.restartOf} was not started by Reeve, so Reeve cannot start it again.`,
    'Start the program yourself, and track its new PID.',
  )
}
