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

/** The machine that a kernel runs on. */
export interface Machine extends Pick<TrackedProcess, 'boot' | 'host' | 'pidNamespace'> {
  /** Without a machine id, and in clones of one image, several machines may have the same `host`. */
  readonly hasMachineId: boolean
}

/**
 * Where a tracked process is, as seen from a machine. `earlier_boot`: it was on this machine, which has started again since
 * then, so that it is gone. `unknown`: elsewhere, or nothing here can tell. `liveBoots` are the boots of the holders that live:
 * a boot among them that is not the one of this machine is that of another machine.
 */
export function whereIs(
  tracked: TrackedProcess,
  machine: Machine,
  liveBoots: readonly string[],
): 'here' | 'earlier_boot' | 'unknown' {
  if (tracked.host !== machine.host || tracked.boot === '' || machine.boot === '') return 'unknown'
  if (tracked.boot === machine.boot) return tracked.pidNamespace === machine.pidNamespace ? 'here' : 'unknown'
  return machine.hasMachineId && !liveBoots.includes(tracked.boot) ? 'earlier_boot' : 'unknown'
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
