import { isNativeAgent } from '../agent/state.ts'
import { parseCeiling } from '../capability/ceiling.ts'
import { isMemoryJob } from '../memory/memory-spec.ts'
import { isRefusal, type Refusal, refusal } from '../refusal.ts'
import { isReserved } from './event.ts'
import type { Registration } from './record.ts'
import type { RegisterFacts, RegisterIntent } from './register.ts'
import type { RegistrationRequest } from './registration-request.ts'
import type { ProcessRow } from './row.ts'

export function refuseKind(
  { environmentKnown }: RegisterFacts,
  registration: Registration,
): Refusal | undefined {
  const { kind, recovery, envRef, depth, limits } = registration
  if (kind === 'command' && recovery !== 'bound') {
    return refusal(
      'invalid_input',
      `A command is always bound to its first holder; recovery cannot be ${recovery}.`,
      'Leave recovery out.',
    )
  }
  if ((kind === 'external') !== (recovery === 'external')) {
    return refusal(
      'invalid_input',
      `A process of kind ${kind} cannot have recovery ${recovery}.`,
      'External processes have recovery external, and no others do.',
    )
  }
  if (isNativeAgent(registration) && recovery !== 'rerunnable') {
    return refusal(
      'invalid_input',
      `An agent goes on after the loss of its holder; recovery cannot be ${recovery}.`,
      'Leave recovery out.',
    )
  }
  const reserved = Object.keys(registration.eventTypes).find(isReserved)
  if (reserved !== undefined) {
    return refusal(
      'invalid_input',
      `${reserved} is one of Reeve's own event types and cannot be declared.`,
      'Give the event type another name.',
    )
  }
  if (kind === 'external' && envRef !== null) {
    return refusal(
      'environment_forbidden',
      'An external process runs elsewhere and has no environment here.',
      'Leave envRef out.',
    )
  }
  if (envRef !== null && !environmentKnown) {
    return refusal(
      'environment_unknown',
      `There is no environment ${envRef}.`,
      'Store it first; its reference is the hash of its content.',
    )
  }
  if (depth > limits.depth) {
    return refusal(
      'depth_exceeded',
      `The tree may be ${limits.depth} deep, and this process would be at ${depth}.`,
      'Raise limits.depth at the root, or delegate less deeply.',
    )
  }
  return undefined
}

/** The code of a tool or a workflow runs inside another program, so its share of the memory cannot be measured. */
export function refuseCeiling(
  { parent }: RegisterFacts,
  { kind, limits }: RegistrationRequest,
): Refusal | undefined {
  const asked = limits?.memoryBytes
  if (asked === undefined || kind === 'command' || kind === 'external') return undefined
  // Inherited, to be passed on to the commands below it.
  if (asked === parent?.record.limits.memoryBytes) return undefined
  return refusal(
    'invalid_input',
    `The memory of a process of kind ${kind} cannot be watched; limits.memoryBytes is for commands.`,
    'Leave it out, or give it to the commands that it starts.',
  )
}

/** The rules of a launch ceiling must be readable, or it would hold back too little. */
export function refuseLaunch({ ceiling }: RegistrationRequest): Refusal | undefined {
  const rules = ceiling === undefined ? null : parseCeiling(ceiling.rules)
  return isRefusal(rules) ? rules : undefined
}

/** A tool is a call of its parent, and does not count as a child; nor does the job that keeps the memory of an agent. */
export function refuseChild(
  { parent, liveChildren }: RegisterFacts,
  { kind, spec }: RegistrationRequest,
): Refusal | undefined {
  const most = parent?.record.limits.liveChildren
  if (
    kind === 'tool' ||
    isMemoryJob({ kind, spec }) ||
    parent === null ||
    most === undefined ||
    liveChildren < most
  )
    return undefined
  return refusal(
    'limit_exceeded',
    `limit:liveChildren of ${parent.record.pid}: ${liveChildren} of its children live, and ${most} may.`,
    'Wait until one of them has ended.',
    { limit: 'liveChildren', left: 0, asked: 1 },
  )
}

export function refuseGroup({ group }: RegisterFacts, registration: Registration): Refusal | undefined {
  const wanted = registration.group
  if (wanted === null) return undefined
  if (
    wanted.index >= wanted.size ||
    (group !== null && (group.size !== wanted.size || group.seats[wanted.index] !== null))
  ) {
    return refusal(
      'group_conflict',
      `Group ${wanted.id} has ${group?.size ?? wanted.size} seats, and seat ${wanted.index} of ${wanted.size} cannot be taken.`,
      'Give all members of a group the same size, and each its own index.',
    )
  }
  return undefined
}

export function tooLarge({ pid, bytes }: RegisterIntent, most: number): Refusal {
  return refusal(
    'payload_too_large',
    `The request for ${pid} has ${bytes} bytes; at most ${most} are kept.`,
    'Put the bytes in a file and the path in the spec.',
  )
}

export function conflict({ record }: ProcessRow): Refusal {
  return refusal(
    'conflict',
    `${record.pid} is already registered with another request.`,
    'Repeat the first request exactly, or leave out the pid (or idempotency key) for a new process.',
  )
}
