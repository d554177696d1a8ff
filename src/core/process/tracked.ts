import { type Refusal, refusal } from '../refusal.ts'
import type { Actor, ProcessRecord, StopHow } from './record.ts'
import type { RegistrationRequest } from './registration-request.ts'

/** The OS process behind an external process that Reeve did not start. `spec.process` of the record. */
export type TrackedProcess = {
  readonly osPid: number
  readonly startTime: string
  readonly boot: string
  /** Which machine: a kernel elsewhere knows nothing about it. */
  readonly host: string
  /** PIDs can be compared only within one PID namespace. */
  readonly pidNamespace: string
}

/** Null for a process without an OS identity. */
export function trackedOf({ kind, spec }: Pick<ProcessRecord, 'kind' | 'spec'>): TrackedProcess | null {
  const tracked = kind === 'external' ? spec['process'] : undefined
  return tracked === undefined ? null : (tracked as TrackedProcess)
}

/** The machine that a kernel runs on. */
export interface Machine extends Pick<TrackedProcess, 'boot' | 'host' | 'pidNamespace'> {
  /** Without a machine id, and in clones of one image, several machines may have the same `host`. */
  readonly hasMachineId: boolean
}

/**
 * Where a tracked process is, as seen from a machine. `earlier_boot`: it was on this machine, which has rebooted since, so it
 * is gone. `unknown`: elsewhere, or not known here. `liveBoots` are the boots of the live holders: one among them that is not
 * this machine's boot belongs to another machine.
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

/** The signal that delivers a stop to a tracked process. A kill asks first; SIGKILL follows after the grace. */
export function stopSignalOf(how: StopHow): 'SIGINT' | 'SIGTERM' {
  return how === 'interrupt' ? 'SIGINT' : 'SIGTERM'
}

/** Reeve signals tracked PIDs, so only the host may name one: otherwise a session could have any process killed. */
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
