import { type Account, aboveOf, accountOf, sessionAccountOf } from '../allowance/account.ts'
import { type Carved, decideCarve, fitting, refuseIdle } from '../allowance/decide.ts'
import type { Group } from '../group/group.ts'
import { ownListenerOf } from '../inbox/notice.ts'
import { canonical } from '../json/canonical.ts'
import type { Json } from '../json/json.ts'
import { type Fence, holds, type Lease } from '../lease/lease.ts'
import { isPlacedAt, type Placement, refusePlacement, resolvePlacement } from '../placement/placement.ts'
import { type Refusal, refusal } from '../refusal.ts'
import type { Session, Turn } from '../session/session.ts'
import { stopping } from './decide-stop.ts'
import { type NewEvent, newEvent, type Rules, staleFence } from './decision.ts'
import { isReserved } from './event.ts'
import { decideKept, replacedBy } from './if-running.ts'
import type { Pid } from './pid.ts'
import type { Registration } from './record.ts'
import {
  type Actor,
  type GroupSeat,
  hasEnded,
  type Kind,
  type Limits,
  type Owner,
  type ProcessRecord,
  type Recovery,
  type Scope,
} from './record.ts'
import { refuseScope } from './refuse-scope.ts'
import type { RegistrationRequest } from './registration-request.ts'
import type { ProcessRow, Tombstone } from './row.ts'
import { refuseTracking, trackedOf } from './tracked.ts'

export type { RegistrationRequest } from './registration-request.ts'

export interface RegisterIntent {
  readonly pid: Pid
  /** Of the request, as text. */
  readonly bytes: number
  readonly hash: string
  readonly request: RegistrationRequest
  readonly actor: Actor
  readonly at: number
  /** The environment of kinds that need one and were given none. */
  readonly defaultEnvRef: string
  /** Where the program is that registers it. */
  readonly here: readonly Placement[]
  /** A kernel that serves it begins it in the same transaction, if it is placed there. */
  readonly startBy: string | null
  /** Whoever would begin it can take no more: only a process that is there already is an answer. */
  readonly refuseNew: Refusal | null
  /** Of the parent's executor, when it is the one that asks: a lost lease has no more children. */
  readonly fence: Fence | null
  /** The step of the parent, a workflow, that spawns it. */
  readonly place: number | null
  /** It takes what is left of its allowance, if that is less than it asks for. */
  readonly fits: boolean
}

export interface RegisterFacts {
  readonly existing: ProcessRow | null
  readonly tombstone: Tombstone | null
  readonly parent: ProcessRow | null
  /** The nearest ancestor that is being stopped or has ended. */
  readonly stoppingAncestor: ProcessRow | null
  readonly session: Session | null
  readonly turn: Turn | null
  /** A session that is to be woken, or shown the process, and cannot be. */
  readonly unusableSession: string | null
  readonly group: Group | null
  readonly environmentKnown: boolean
  /** Of whoever its allowance is carved from: its parent, or its session. */
  readonly account: Account | null
  /** Of its parent; only where they are limited. */
  readonly liveChildren: number
  /** Lives under the same name in the scope of the owner; only where the request asks about one. */
  readonly running: ProcessRow | null
}

export type RegisterDecision =
  | { readonly type: 'existing' | 'running'; readonly row: ProcessRow }
  | {
      readonly type: 'register'
      readonly registration: Registration
      /** Has to end first: until then nothing of this is written. */
      readonly replaced: ProcessRow | null
      readonly lease: Lease
      readonly events: readonly NewEvent[]
      readonly parentEvents: readonly NewEvent[]
      readonly carved: Extract<Carved, { type: 'carved' }>
    }
  | { readonly type: 'refuse'; readonly refusal: Refusal }

const DEFAULT_ATTEMPTS = 5
/** Deep enough for any sane delegation, shallow enough that a runaway recursion is stopped early. */
const DEFAULT_DEPTH = 32

/** Whether a process comes to be, and as what. The same pid with the same request is the same process. */
export function decideRegister(
  facts: RegisterFacts,
  intent: RegisterIntent,
  rules: Pick<Rules, 'maxPayloadBytes'>,
): RegisterDecision {
  const { existing, tombstone } = facts
  if (existing !== null) {
    return existing.record.registrationHash === intent.hash
      ? { type: 'existing', row: existing }
      : no(conflict(existing))
  }
  if (tombstone !== null) {
    return no(
      refusal(
        'pruned_pid',
        `${intent.pid} was used by a process that has been pruned.`,
        'Pids are never used again: leave it out, or use another idempotency key, to get a new process.',
      ),
    )
  }
  const kept = decideKept(facts.running, intent.request)
  if (kept !== null) return kept
  const unlimited = withDefaults(facts, intent)
  if (intent.bytes > rules.maxPayloadBytes) return no(tooLarge(intent, rules.maxPayloadBytes))
  const refused =
    refuseTracking(intent.request, intent.actor) ??
    refuseParent(facts, intent) ??
    refuseKind(facts, unlimited) ??
    refusePlacement(intent.request, intent.pid) ??
    refuseCeiling(facts, intent.request) ??
    refuseScope(facts, unlimited) ??
    refuseGroup(facts, unlimited) ??
    refuseChild(facts)
  if (refused !== undefined) return no(refused)
  const { allowance = {} } = intent.request
  const asked = intent.fits ? fitting(allowance, facts.account) : allowance
  const place = {
    id: accountOf(intent.pid),
    parent: aboveOf(unlimited.parent, facts.session),
    root: unlimited.root,
    session: facts.session === null ? null : sessionAccountOf(facts.session),
  }
  const carved = decideCarve(facts.account, asked, place, unlimited.kind)
  if (carved.type === 'refuse') return carved
  const idle = refuseIdle(unlimited.kind, carved.account)
  if (idle !== undefined) return no(idle)
  const isHere = isPlacedAt(unlimited.placement, intent.here)
  const replaced = replacedBy(facts.running, intent.request)
  if (intent.refuseNew !== null && isHere && !makesRoom(replaced, unlimited, intent))
    return no(intent.refuseNew)
  const registration = withAllowance(unlimited, carved.account)
  const registered = newEvent({ type: 'registered', payload: registration })
  const { notBefore } = intent.request
  // A tracked process runs already, and no kernel holds it.
  const tracked = trackedOf(registration)
  const startedBy = tracked !== null ? `os:${tracked.osPid}` : isHere ? intent.startBy : null
  const events =
    startedBy === null
      ? [registered, ...(notBefore === undefined ? [] : [postponed(notBefore)])]
      : [registered, newEvent({ type: 'started', payload: { holder: startedBy, attempt: 1 } })]
  const parentEvents =
    facts.parent === null
      ? []
      : [
          newEvent({
            type: 'child_registered',
            payload: {
              pid: intent.pid,
              kind: registration.kind,
              label: registration.label,
              ...(intent.place === null ? {} : { place: intent.place }),
            },
          }),
        ]
  const holder = tracked === null ? startedBy : null
  const lease = { holder, fence: holder === null ? 0 : 1 }
  return { type: 'register', registration, replaced, lease, events, parentEvents, carved }
}

/** Whether its end leaves a place for the one that replaces it: it has one of the same kind, here. */
function makesRoom(replaced: ProcessRow | null, { kind }: Registration, { here }: RegisterIntent): boolean {
  if (replaced === null || replaced.holder === null) return false
  return replaced.record.kind === kind && isPlacedAt(replaced.record.placement, here)
}

function withAllowance(registration: Registration, account: Account | null): Registration {
  if (account === null) return registration
  return { ...registration, limits: { ...registration.limits, allowance: account.given } }
}

function postponed(until: number): NewEvent {
  return newEvent({ type: 'postponed', payload: { until } })
}

/** The text whose hash is a registration's identity: the caller's request, before defaults, without trace data. */
export function registrationText(request: RegistrationRequest): string {
  const { causedBy, defaultCwd: _folder, baseEnvRef: _base, ...rest } = request
  const { traceparent: _trace, tracestate: _state, ...cause } = causedBy ?? {}
  const asked = Object.keys(cause).length === 0 ? rest : { ...rest, causedBy: cause }
  return canonical(inFormerWords(asked) as unknown as Json)
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

/** Given, else the parent's, else the session that asks. */
export function ownerOf(request: RegistrationRequest, parent: ProcessRecord | null, actor: Actor): Owner {
  if (request.owner !== undefined) return request.owner
  if (parent !== null) return parent.owner
  return actor.startsWith('session:') ? { session: actor.slice('session:'.length) } : {}
}

/** The environment that a request names, or that its client has. */
export function environmentOf({ envRef, baseEnvRef, kind }: RegistrationRequest): string | undefined {
  return envRef ?? (kind === 'command' ? baseEnvRef : undefined)
}

function withDefaults(facts: RegisterFacts, intent: RegisterIntent): Registration {
  const { request } = intent
  const parent = facts.parent?.record ?? null
  const owner = ownerOf(request, parent, intent.actor)
  const needsEnvironment = request.kind === 'tool' || request.kind === 'workflow'
  return {
    pid: intent.pid,
    name: request.name ?? null,
    kind: request.kind,
    spec: request.spec,
    label: request.label ?? defaultLabel(request),
    definition: request.definition ?? null,
    parent: parent?.pid ?? null,
    root: parent?.root ?? intent.pid,
    depth: parent === null ? 0 : parent.depth + 1,
    restartOf: request.restartOf ?? null,
    group: seat(
      facts.group,
      request.group,
      ownListenerOf({ wakeTarget: request.wakeTarget ?? null, owner, parent: parent?.pid ?? null }),
    ),
    owner,
    originator: intent.actor,
    causedBy: request.causedBy ?? null,
    replyTo: request.replyTo ?? null,
    lifetime:
      request.lifetime ?? (owner.session !== undefined ? 'session' : parent !== null ? 'parent' : 'daemon'),
    recovery: request.recovery ?? defaultRecovery(request.kind),
    placement: resolvePlacement(request.placement, request.kind, parent?.placement ?? null, intent.here),
    envRef: environmentOf(request) ?? (needsEnvironment ? (parent?.envRef ?? intent.defaultEnvRef) : null),
    cwd: request.cwd ?? parent?.cwd ?? request.defaultCwd ?? null,
    eventTypes: request.eventTypes ?? {},
    registrationHash: intent.hash,
    wakeTarget: request.wakeTarget ?? null,
    limits: {
      attempts: request.limits?.attempts ?? DEFAULT_ATTEMPTS,
      depth: Math.min(request.limits?.depth ?? DEFAULT_DEPTH, parent?.limits.depth ?? DEFAULT_DEPTH),
      ...ceilings(request.limits, parent?.limits),
    },
  }
}

const CEILINGS = ['liveChildren', 'runMs', 'memoryBytes'] as const

/** Passed on whole: what one process uses of a ceiling takes nothing from another. A child may have a lower one. */
function ceilings(asked: RegistrationRequest['limits'], parent: Limits | undefined): Partial<Limits> {
  const named = CEILINGS.flatMap((name) => {
    const amounts = [asked?.[name], parent?.[name]].filter((amount) => amount !== undefined)
    return amounts.length === 0 ? [] : [[name, Math.min(...amounts)] as const]
  })
  return Object.fromEntries(named)
}

/** A tool call may have effects that must not happen twice, so only what is durable by itself runs again unasked. */
function defaultRecovery(kind: Kind): Recovery {
  if (kind === 'external') return 'external'
  return kind === 'workflow' || kind === 'agent' ? 'rerunnable' : 'bound'
}

function defaultLabel({ kind, spec }: RegistrationRequest): string {
  const text = kind === 'command' ? (spec['run'] ?? spec['argv']) : (spec[kind] ?? spec['description'])
  const label = Array.isArray(text) ? text.join(' ') : typeof text === 'string' ? text : kind
  return label.length > 120 ? `${label.slice(0, 119)}…` : label
}

function seat(
  group: Group | null,
  asked: RegistrationRequest['group'],
  scope: Scope | null,
): GroupSeat | null {
  if (asked === undefined) return null
  const index = asked.index ?? firstFree(group)
  return { id: asked.id, scope, index, size: asked.size }
}

function firstFree(group: Group | null): number {
  if (group === null) return 0
  const free = group.seats.indexOf(null)
  return free === -1 ? group.size : free
}

function refuseParent(
  { parent, stoppingAncestor }: RegisterFacts,
  { request, pid, fence }: RegisterIntent,
): Refusal | undefined {
  if (request.parent === undefined) return undefined
  if (parent === null) {
    return refusal(
      'unknown_pid',
      `The parent ${request.parent} of ${pid} does not exist.`,
      'Register the parent first, or leave it out.',
    )
  }
  if (fence !== null && !holds(parent, fence)) return staleFence(parent.record, fence)
  if (stoppingAncestor === null) return undefined
  const { record } = stoppingAncestor
  if (!hasEnded(record)) return stopping(record)
  return refusal(
    'already_ended',
    `${record.pid} has ended (${record.status}) and takes no more children.`,
    'Register it without a parent, or under a live one.',
    {
      outcome: record.outcome,
    },
  )
}

function refuseKind({ environmentKnown }: RegisterFacts, registration: Registration): Refusal | undefined {
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

/** The code of a tool or a workflow runs in a program of somebody else's: nobody can say how much memory is its own. */
function refuseCeiling(
  { parent }: RegisterFacts,
  { kind, limits }: RegistrationRequest,
): Refusal | undefined {
  const asked = limits?.memoryBytes
  if (asked === undefined || kind === 'command' || kind === 'external') return undefined
  // Passed on to it, and by it to the commands below it.
  if (asked === parent?.record.limits.memoryBytes) return undefined
  return refusal(
    'invalid_input',
    `The memory of a process of kind ${kind} cannot be watched; limits.memoryBytes is for commands.`,
    'Leave it out, or give it to the commands that it starts.',
  )
}

function refuseChild({ parent, liveChildren }: RegisterFacts): Refusal | undefined {
  const most = parent?.record.limits.liveChildren
  if (parent === null || most === undefined || liveChildren < most) return undefined
  return refusal(
    'limit_exceeded',
    `limit:liveChildren of ${parent.record.pid}: ${liveChildren} of its children live, and ${most} may.`,
    'Wait until one of them has ended.',
    { limit: 'liveChildren', left: 0, asked: 1 },
  )
}

function refuseGroup({ group }: RegisterFacts, registration: Registration): Refusal | undefined {
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

function tooLarge({ pid, bytes }: RegisterIntent, most: number): Refusal {
  return refusal(
    'payload_too_large',
    `The request for ${pid} has ${bytes} bytes; at most ${most} are kept.`,
    'Put the bytes in a file and the path in the spec.',
  )
}

function conflict({ record }: ProcessRow): Refusal {
  return refusal(
    'conflict',
    `${record.pid} is already registered with another request.`,
    'Repeat the first request exactly, or leave out the pid (or idempotency key) for a new process.',
  )
}

function no(refused: Refusal): RegisterDecision {
  return { type: 'refuse', refusal: refused }
}
