import { isQuestion, questionOf } from '../core/approval/question.ts'
import type { ShownChange } from '../core/approval/shown-change.ts'
import type { Act } from '../core/audit/denial.ts'
import type { ResolvedAction } from '../core/capability/action.ts'
import type { Need } from '../core/capability/need.ts'
import type { Change } from '../core/change.ts'
import { canonical } from '../core/json/canonical.ts'
import { delegatedPaths } from '../core/lien/lien.ts'
import { type LendingFacts, withLien } from '../core/lien/refuse-lending.ts'
import { fold } from '../core/process/fold.ts'
import type { Pid } from '../core/process/pid.ts'
import type { Actor, Owner, ProcessRecord, Registration } from '../core/process/record.ts'
import {
  decideRegister,
  type RegisterDecision,
  type RegisterFacts,
  type RegisterIntent,
} from '../core/process/register.ts'
import { environmentOf, ownerOf } from '../core/process/registration-defaults.ts'
import type { RegistrationRequest } from '../core/process/registration-request.ts'
import type { ProcessRow } from '../core/process/row.ts'
import { isRefusal, type Refusal } from '../core/refusal.ts'
import { carvedChanges } from './allowances.ts'
import { askQuestion } from './ask-question.ts'
import { refusalChanges } from './audit.ts'
import type { Edges } from './edges.ts'
import { type GateAnswer, gateOf, OPEN } from './gate.ts'
import type { PlanPart } from './plan-part.ts'
import { guardOfName, type RegistrationContext, registerFacts } from './register-facts.ts'
import { type GatedRegistration, isRuled, type Missing } from './rule-on-registration.ts'
import type { WorkingRows } from './working-rows.ts'
import type { Places } from './workspaces.ts'

/** The fields that are compared between the requests of one plan. */
export type NamedRequest = Pick<RegistrationRequest, 'name' | 'ifRunning'> & { readonly owner: Owner }

/** An action as it was resolved, and the registration that it belongs to. */
export interface Resolution {
  readonly text: string
  readonly action: ResolvedAction
}

export interface Unresolved {
  readonly unresolved: ProcessRecord
  readonly missing: Missing
}

/** What the host has found out for the registrations of a plan. */
export interface HostFacts {
  readonly resolved: ReadonlyMap<Pid, Resolution>
  readonly previews: ReadonlyMap<Pid, ShownChange | null>
  readonly places: Places | undefined
  readonly looksLeft: number
}

/** One registration of a plan: reads the facts, asks for permission, decides, and adds the changes to `rows`. */
export function* registerOne(
  edges: Edges,
  rows: WorkingRows,
  intent: RegisterIntent,
  context: RegistrationContext & {
    readonly names: NamedRequest[]
    readonly host: HostFacts
    readonly effects?: readonly Need[] | undefined
    /** Of a call that shows what it would change. */
    readonly preview?: unknown
  },
): PlanPart<
  | { readonly type: 'registered' | 'existing' | 'running'; readonly row: ProcessRow }
  | RefusedRegistration
  | ({ readonly type: 'unresolved' } & Unresolved)
> {
  const facts = yield* registerFacts(rows, intent, context)
  const { request, pid, actor, at } = intent
  const owner = ownerOf(request, facts.parent?.record ?? null, actor)
  if (request.name !== undefined) context.names.push({ ...request, owner })
  const spawning = { at, actor, action: 'spawn', target: placeOf(request, owner), trace: traceOf(request) }
  const denied = deny(edges, intent, facts, owner)
  if (denied !== undefined) return yield* refusedWith(edges, denied, spawning)
  const first = decideRegister(facts, intent, edges.rules)
  if (first.type !== 'register')
    return first.type === 'refuse' ? yield* refusedWith(edges, first.refusal, spawning) : first
  const { registration } = first
  const { resolved, previews, places, looksLeft } = context.host
  const preview = previews.get(pid)
  const known = resolved.get(pid)
  const question = isQuestion(registration) ? questionOf(registration.spec) : null
  if (question !== null && isRefusal(question)) return { type: 'refused', refusal: question }
  const asking: GatedRegistration = {
    registration,
    actor: gatedActor(registration, facts.parent, actor),
    at,
    here: intent.here,
    // Resolved for another registration: what it depends on has changed meanwhile.
    resolved: known !== undefined && known.text === textOf(registration) ? known.action : null,
    envRef: environmentOf(request),
    isEnvironmentNamed: request.envRef !== undefined,
    session: facts.session,
    places,
    looksLeft,
    approvalId: approvalIdOf(pid),
    reason: request.reason ?? null,
    trace: traceOf(request),
    effects: context.effects,
    change: preview === undefined && context.preview !== undefined ? 'unknown' : (preview ?? null),
  }
  const ruled = isRuled(registration, asking.actor) ? yield* gateOf(edges, rows, asking) : OPEN
  const gate =
    question === null || ruled.type === 'denied' || ruled.type === 'unresolved'
      ? ruled
      : yield* askQuestion(edges, rows, asking, question, ruled)
  if (gate.type === 'unresolved') {
    const { record } = folded(first, intent, facts).row
    return { type: 'unresolved', unresolved: record, missing: gate.missing }
  }
  if (gate.type === 'denied') return { type: 'refused', refusal: gate.refusal, changes: gate.changes }
  const added = addedBy(gate)
  const gated = added === undefined ? first : decideRegister(facts, { ...intent, ...added }, edges.rules)
  if (gated.type !== 'register') throw new Error(`The decision about ${pid} depends on its approval`)
  const decision = gated
  rows.add(gate.changes)
  if (decision.replaced !== null) {
    const { record } = decision.replaced
    const notEnded = edges.authorize(actor, 'signal', { type: 'process', record })
    if (notEnded !== undefined)
      return yield* refusedWith(edges, notEnded, { ...spawning, target: `process:${record.pid}` })
    context.replaced.push(decision.replaced)
  }
  if (request.ifRunning !== undefined) rows.add([yield* guardOfName(owner)])
  const child = folded(decision, intent, facts)
  rows.add(child.changes)
  rows.add(carvedChanges(facts.account, decision.carved))
  const { parent: was } = facts
  if (was !== null) {
    const { pid: parentPid } = was.record
    const events = decision.parentEvents
    rows.add(fold({ pid: parentPid, was, group: null, events, lease: undefined, actor, at }).changes)
  }
  if (facts.lending !== undefined) rows.add(lentChanges(facts.lending, child.row.record))
  const { envRef } = child.row.record
  if (envRef !== null && envRef !== intent.defaultEnvRef)
    rows.add([{ type: 'environment_used', ref: envRef, by: `process:${pid}` }])
  for (const { session, descriptor } of request.grants ?? []) {
    rows.add([{ type: 'grant', grant: { session, pid, descriptor: descriptor ?? null, at } }])
  }
  return { type: 'registered', row: child.row }
}

/** In the transaction of the registration: from its first event on, the agent alone may write below its paths. */
function lentChanges({ row: was }: LendingFacts, record: ProcessRecord): readonly Change[] {
  const given = delegatedPaths(record)
  if (given === null) return []
  const { host, ...paths } = given
  const name = record.name ?? record.identity.label
  return [{ type: 'liens', was, liens: withLien(was, host, { holder: record.pid, name, ...paths }) }]
}

/** What the gate adds to a registration, if anything. */
function addedBy(
  gate: Extract<GateAnswer, { type: 'open' | 'ask' }>,
): Partial<Pick<RegisterIntent, 'approval' | 'ruledOn'>> | undefined {
  if (gate.type === 'ask') return { approval: gate.approval }
  return gate.ruledOn === undefined ? undefined : { ruledOn: gate.ruledOn }
}

/** `changes`: the entry of a denial. */
interface RefusedRegistration {
  readonly type: 'refused'
  readonly refusal: Refusal
  readonly changes?: readonly Change[]
}

function* refusedWith(edges: Edges, refused: Refusal, act: Act): PlanPart<RefusedRegistration> {
  return { type: 'refused', refusal: refused, changes: yield* refusalChanges(edges, refused, act) }
}

/** Where a process would be registered, as the audit names it. */
function placeOf({ parent }: RegistrationRequest, { session }: Owner): string {
  if (parent !== undefined) return `process:${parent}`
  return session === undefined ? 'store' : `session:${session}`
}

export function folded(
  { events, lease }: Extract<RegisterDecision, { type: 'register' }>,
  { pid, actor, at }: RegisterIntent,
  { group }: RegisterFacts,
) {
  return fold({ pid, was: null, group, events, lease, actor, at })
}

/**
 * A restart that a policy asks for is registered by a kernel, which no rule binds. It acts as the parent or the session of the
 * process, also after the end of that parent. So is a hook at an end, which acts as its agent.
 */
export function gatedActor(
  registration: Pick<Registration, 'restartOf' | 'owner' | 'actsFor'>,
  parent: ProcessRow | null,
  actor: Actor,
): Actor {
  const { restartOf, owner, actsFor } = registration
  if (!actor.startsWith('kernel:')) return actor
  if (restartOf === null) return actsFor ?? actor
  const { session } = owner
  // A process that has moved to another session since is bound by the rules of that one.
  if (parent !== null && parent.record.owner.session === session) return `process:${parent.record.pid}`
  return actsFor ?? (session === undefined ? actor : `session:${session}`)
}

/** The first approval of a process. A later one, for a changed action, has a number behind it. */
export function approvalIdOf(pid: Pid): string {
  return `a_${pid.slice('p_'.length)}`
}

/** The W3C trace context of a request. */
function traceOf({ causedBy }: RegistrationRequest): string | null {
  const traceparent = causedBy?.['traceparent']
  return typeof traceparent === 'string' ? traceparent : null
}

/** Whether the actor may register here, wake this target, and see the process that would be the answer. */
function deny(
  edges: Edges,
  { request: { wakeTarget }, actor }: RegisterIntent,
  { parent, existing, running, session }: RegisterFacts,
  owner: Owner,
): Refusal | undefined {
  const sessionsAbove = session?.sessionsAbove
  const placed = { type: 'registration', owner, parent: parent?.record ?? null } as const
  const registration = sessionsAbove === undefined ? placed : { ...placed, sessionsAbove }
  const denied = edges.authorize(actor, 'execute', registration)
  if (denied !== undefined) return denied
  if (wakeTarget !== undefined && wakeTarget !== owner.session) {
    const unwakeable = edges.authorize(actor, 'write', { type: 'session', id: wakeTarget })
    if (unwakeable !== undefined) return unwakeable
  }
  const answer = existing ?? running
  if (answer === null) return undefined
  return edges.authorize(actor, 'read', { type: 'process', record: answer.record })
}

/** What the resolution of a command depends on. */
export function textOf({ spec, cwd, envRef, parent }: Registration | ProcessRecord): string {
  return canonical({ spec, cwd, envRef, parent })
}
