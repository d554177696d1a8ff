import { type Ceiling, ceilingsOf, parseCeiling } from '../capability/ceiling.ts'
import type { Group } from '../group/group.ts'
import { ownListenerOf } from '../inbox/notice.ts'
import { forkView } from '../object/view.ts'
import { resolvePlacement } from '../placement/placement.ts'
import { isRefusal } from '../refusal.ts'
import { labelOf } from './label.ts'
import type {
  Actor,
  GroupSeat,
  Kind,
  Limits,
  Owner,
  ProcessRecord,
  Recovery,
  Registration,
  Scope,
} from './record.ts'
import type { RegisterFacts, RegisterIntent } from './register.ts'
import type { RegistrationRequest } from './registration-request.ts'

const DEFAULT_ATTEMPTS = 5
/** Deep enough for any sane delegation, shallow enough that a runaway recursion stops early. */
const DEFAULT_DEPTH = 32

/** The registration of a request, with every default filled in. */
export function withDefaults(facts: RegisterFacts, intent: RegisterIntent): Registration {
  const { request } = intent
  const parent = facts.parent?.record ?? null
  const owner = ownerOf(request, parent, intent.actor)
  const needsEnvironment = request.kind === 'tool' || request.kind === 'workflow'
  return {
    pid: intent.pid,
    name: request.name ?? null,
    kind: request.kind,
    spec: request.spec,
    label: request.label ?? labelOf(request),
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
      ...limitCeilings(request.limits, parent?.limits),
    },
    ...launchCeilings(facts, intent, owner),
    ...(facts.session?.sessionsAbove === undefined ? {} : { sessionsAbove: facts.session.sessionsAbove }),
    ...viewOf(facts, request),
    ...(facts.actsFor === undefined ? {} : { actsFor: facts.actsFor }),
  }
}

/** A fork pins an event of the other process. Nothing is copied, so it costs the same for any number of objects. */
function viewOf(
  { parent, viewOf: other }: RegisterFacts,
  { view }: RegistrationRequest,
): Pick<Registration, 'view'> {
  const of = other === undefined ? parent : other
  return view === undefined || of === null ? {} : { view: forkView(of.record, view) }
}

/** Left out if there is none, as almost always. */
function launchCeilings(
  { parent, restarted, sessionAgent, forked }: RegisterFacts,
  { pid, request, ceilings: given = [] }: RegisterIntent,
  owner: Owner,
): { readonly ceilings?: readonly Ceiling[] } {
  const old = restarted?.record
  const own = request.ceiling === undefined ? null : parseCeiling(request.ceiling.rules)
  const ceilings = ceilingsOf({
    pid,
    parent: [...((parent?.record ?? sessionAgent)?.ceilings ?? []), ...given],
    // Of another session it is no restart, but a pid that the caller happens to know. A fork is bound wherever it is.
    restarted:
      forked?.record.ceilings !== undefined
        ? { pid: forked.record.pid, ceilings: forked.record.ceilings }
        : old?.ceilings === undefined || old.owner.session !== owner.session
          ? null
          : { pid: old.pid, ceilings: old.ceilings },
    // Rules that cannot be read are refused: `refuseLaunch`.
    own: isRefusal(own) ? [] : own,
  })
  return ceilings.length === 0 ? {} : { ceilings }
}

/** The requested owner, else the parent's, else the session that asks. */
export function ownerOf(request: RegistrationRequest, parent: ProcessRecord | null, actor: Actor): Owner {
  if (request.owner !== undefined) return request.owner
  if (parent !== null) return parent.owner
  return actor.startsWith('session:') ? { session: actor.slice('session:'.length) } : {}
}

/** The environment that a request names, or that of its client. */
export function environmentOf({ envRef, baseEnvRef, kind }: RegistrationRequest): string | undefined {
  return envRef ?? (kind === 'command' ? baseEnvRef : undefined)
}

const CEILINGS = ['liveChildren', 'runMs', 'memoryBytes'] as const

/** Inherited whole, because a ceiling is not shared: one process's use takes nothing from another. A child may have a lower one. */
function limitCeilings(asked: RegistrationRequest['limits'], parent: Limits | undefined): Partial<Limits> {
  const named = CEILINGS.flatMap((name) => {
    const amounts = [asked?.[name], parent?.[name]].filter((amount) => amount !== undefined)
    return amounts.length === 0 ? [] : [[name, Math.min(...amounts)] as const]
  })
  return Object.fromEntries(named)
}

/** A tool call may have effects that must not happen twice, so only kinds that are durable by themselves run again unasked. */
function defaultRecovery(kind: Kind): Recovery {
  if (kind === 'external') return 'external'
  return kind === 'workflow' || kind === 'agent' ? 'rerunnable' : 'bound'
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
