import { type DelegationFacts, refuseDelegation } from '../agent/delegation.ts'
import { continuationOf, notRestorable, refuseRestore, type SessionContinued } from '../agent/earlier-logs.ts'
import { prunedLog } from '../agent/fork.ts'
import { firstEvents, isIdleAtFirst } from '../agent/from-outside.ts'
import { refuseClosedCall } from '../agent/refusals.ts'
import type { ReportSeat } from '../agent/report-group.ts'
import { isNativeAgent, type ToolCallRef } from '../agent/state.ts'
import { type Account, aboveOf, accountOf, sessionAccountOf } from '../allowance/account.ts'
import { type Carved, decideCarve, fitting, refuseIdle } from '../allowance/decide.ts'
import type { Ceiling } from '../capability/ceiling.ts'
import type { Group } from '../group/group.ts'
import type { Fence, Lease } from '../lease/lease.ts'
import { delegatedPaths } from '../lien/lien.ts'
import { type LendingFacts, refuseLending } from '../lien/refuse-lending.ts'
import { isMemoryJob, refuseBuiltIn } from '../memory/memory-spec.ts'
import { refuseView } from '../object/view.ts'
import { isPlacedAt, type Placement, refusePlacement } from '../placement/placement.ts'
import { type Refusal, refusal } from '../refusal.ts'
import type { Session, Turn } from '../session/session.ts'
import { approvalRequested } from './decide-approval.ts'
import { type NewEvent, newEvent, type Rules } from './decision.ts'
import type { ApprovalRequested } from './event.ts'
import { evolve } from './evolve.ts'
import { decideKept, replacedBy } from './if-running.ts'
import { refuseParent } from './parent.ts'
import type { Pid } from './pid.ts'
import type { Actor, ProcessRecord, Registration, RuledOn } from './record.ts'
import {
  conflict,
  refuseCeiling,
  refuseChild,
  refuseGroup,
  refuseKind,
  refuseLaunch,
  tooLarge,
} from './refuse-registration.ts'
import { refuseScope } from './refuse-scope.ts'
import { withDefaults } from './registration-defaults.ts'
import type { RegistrationRequest } from './registration-request.ts'
import type { ProcessRow, Tombstone } from './row.ts'
import { refuseTracking, trackedOf } from './tracked.ts'

export type { RegistrationRequest } from './registration-request.ts'

export interface RegisterIntent {
  readonly pid: Pid
  /** Length of the request as text. */
  readonly bytes: number
  readonly hash: string
  readonly request: RegistrationRequest
  readonly actor: Actor
  readonly at: number
  /** The environment of kinds that need one and were given none. */
  readonly defaultEnvRef: string
  /** Where the registering program is. */
  readonly here: readonly Placement[]
  /** The kernel that begins it in the same transaction, if it is placed there. */
  readonly startBy: string | null
  /** The holder that would begin it is full: only an existing process is an answer. */
  readonly refuseNew: Refusal | null
  /** Of the parent's executor, if it is the one that asks: a lost lease has no more children. */
  readonly fence: Fence | null
  /** The step of the parent, a workflow, that spawns it. */
  readonly stepIndex: number | null
  /** The call of the parent, an agent, that it is the process of. */
  readonly openCall?: ToolCallRef
  /** Of an agent below another one: its place in a group that reports at once. */
  readonly reportSeat?: ReportSeat
  /** It continues the session of the ended agent that it restarts. */
  readonly continuesSession?: true
  /** Its session branches from that of another agent. */
  readonly branch?: SessionContinued
  /** Of a hook at an end: the agent in whose name the kernel registers it, also after the end of its session. */
  readonly hookOf?: Pid
  /** It is registered unbegun, and begins when this approval is given. */
  readonly approval: ApprovalRequested | null
  /** Of a command that rules let begin. */
  readonly ruledOn?: RuledOn
  /** Ceilings of the actor that it acts for, besides those of its parent. */
  readonly ceilings?: readonly Ceiling[]
  /** If less than the requested allowance is available, it accepts the rest. */
  readonly acceptsLess: boolean
}

export interface RegisterFacts {
  readonly existing: ProcessRow | null
  readonly tombstone: Tombstone | null
  readonly parent: ProcessRow | null
  /** The process that it restarts, if there is one and it is not pruned. */
  readonly restarted: ProcessRow | null
  /** Of an agent whose session is continued: a log of the session that has been pruned. */
  readonly goneLog?: Pid
  /** Of a fork: the agent that it branches from. */
  readonly forked?: ProcessRow
  /** If a kernel starts it without a parent: the actor that it acts for. */
  readonly actsFor?: Actor
  /** The nearest ancestor that takes no children: it is being stopped, or has ended. */
  readonly stoppingAncestor: ProcessRow | null
  readonly session: Session | null
  /** Of a process without a parent in the session of an agent, or in one below it: the nearest such agent, whose ceilings bind it. */
  readonly sessionAgent?: ProcessRecord
  readonly turn: Turn | null
  /** A session that is to be woken, or to be granted the process, and is not open. */
  readonly unusableSession: string | null
  readonly group: Group | null
  readonly environmentKnown: boolean
  /** The nearest session that has an allowance, of its own one and those above it; its own if none has. */
  readonly payingSession: Session | null
  /** The account that its allowance is carved from: its parent's, or that of the paying session. */
  readonly account: Account | null
  /** Live children of its parent, tools excepted; counted only under a limit. */
  readonly liveChildren: number
  /** The live process of the same name in the owner's scope; only if the request asks about one. */
  readonly running: ProcessRow | null
  /** Of an agent below another one. */
  readonly delegation?: DelegationFacts
  /** Of an agent that gets paths. */
  readonly lending?: LendingFacts
  /** The process whose objects it sees, if the request names one. */
  readonly viewOf?: ProcessRow | null
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

/** Decides a registration. The same pid with the same request is the same process. */
export function decideRegister(
  facts: RegisterFacts,
  intent: RegisterIntent,
  rules: Pick<Rules, 'maxPayloadBytes' | 'mask'>,
): RegisterDecision {
  const { existing, tombstone } = facts
  if (existing !== null) {
    return existing.record.registrationHash === intent.hash
      ? { type: 'existing', row: existing }
      : refused(conflict(existing))
  }
  if (tombstone !== null) {
    return refused(
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
  if (intent.bytes > rules.maxPayloadBytes) return refused(tooLarge(intent, rules.maxPayloadBytes))
  const reason =
    refuseTracking(intent.request, intent.actor) ??
    refuseParent(facts, { ...intent, parent: intent.request.parent }) ??
    refuseClosedCall(facts.parent?.record ?? null, intent.openCall) ??
    refuseKind(facts, unlimited) ??
    refuseBuiltIn(unlimited, intent.actor, facts.parent?.record ?? null) ??
    refuseDelegation(facts.delegation) ??
    refusePaths(facts.lending, intent.request) ??
    refuseContinuing(facts, intent) ??
    refuseFork(facts, intent.request) ??
    refusePlacement(intent.request, intent.pid) ??
    refuseCeiling(facts, intent.request) ??
    refuseLaunch(intent.request) ??
    refuseScope(facts, unlimited, intent.hookOf !== undefined) ??
    refuseGroup(facts, unlimited) ??
    refuseChild(facts, intent.request)
  if (reason !== undefined) return refused(reason)
  const { allowance = {} } = intent.request
  const asked = intent.acceptsLess ? fitting(allowance, facts.account) : allowance
  const ids = {
    id: accountOf(intent.pid),
    parent: aboveOf(unlimited.parent, facts.payingSession),
    root: unlimited.root,
    session: facts.session === null ? null : sessionAccountOf(facts.session),
  }
  const kind = isMemoryJob(unlimited) ? 'memory_job' : unlimited.kind
  const carved = decideCarve(facts.account, asked, ids, kind, sharesIn(intent.reportSeat))
  if (carved.type === 'refuse') return carved
  const idle = refuseIdle(unlimited.kind, carved.account)
  if (idle !== undefined) return refused(idle)
  const isHere = isPlacedAt(unlimited.placement, intent.here)
  const replaced = replacedBy(facts.running, intent.request)
  const { approval } = intent
  if (approval === null && intent.refuseNew !== null && isHere && !makesRoom(replaced, unlimited, intent))
    return refused(intent.refuseNew)
  const registration = withRuledOn(withAllowance(unlimited, carved.account), intent.ruledOn)
  const registered = newEvent({ type: 'registered', payload: registration })
  const { notBefore } = intent.request
  // A tracked process runs already, and no kernel holds it.
  const tracked = trackedOf(registration)
  const startedBy =
    tracked !== null
      ? `os:${tracked.osPid}`
      : isHere && approval === null && !isIdleAtFirst(registration)
        ? intent.startBy
        : null
  const restored = intent.continuesSession === true ? facts.restarted?.record : undefined
  const continues = intent.branch ?? (restored === undefined ? undefined : continuationOf(restored))
  const begun = isNativeAgent(registration)
    ? sessionBegun(registered, approval !== null, { ...intent, ...rules }, continues)
    : []
  const events =
    startedBy === null
      ? [
          registered,
          ...begun,
          ...(notBefore === undefined ? [] : [postponed(notBefore)]),
          ...(approval === null ? [] : [approvalRequested(approval)]),
        ]
      : [registered, ...begun, newEvent({ type: 'started', payload: { holder: startedBy, attempt: 1 } })]
  const parentEvents = facts.parent === null ? [] : [childRegistered(registration, intent)]
  const holder = tracked === null ? startedBy : null
  const lease = { holder, fence: holder === null ? 0 : 1 }
  return { type: 'register', registration, replaced, lease, events, parentEvents, carved }
}

/** The members of a group and their parent get equal parts of what is left. */
function sharesIn(seat: ReportSeat | undefined): number | undefined {
  return seat === undefined ? undefined : seat.size - seat.index + 1
}

/** Whether the end of the replaced process frees a slot for the new one: it has one of the same kind, here. */
function makesRoom(replaced: ProcessRow | null, { kind }: Registration, { here }: RegisterIntent): boolean {
  if (replaced === null || replaced.holder === null) return false
  return replaced.record.kind === kind && isPlacedAt(replaced.record.placement, here)
}

function withAllowance(registration: Registration, account: Account | null): Registration {
  if (account === null) return registration
  return { ...registration, limits: { ...registration.limits, allowance: account.given } }
}

function withRuledOn(registration: Registration, ruledOn: RuledOn | undefined): Registration {
  return ruledOn === undefined ? registration : { ...registration, ruledOn }
}

function childRegistered(
  { pid, kind, label }: Registration,
  { stepIndex, reportSeat: seat }: RegisterIntent,
): NewEvent {
  const step = stepIndex === null ? {} : { stepIndex }
  const payload = { pid, kind, label, ...step, ...(seat === undefined ? {} : { seat }) }
  return newEvent({ type: 'child_registered', payload })
}

function sessionBegun(
  registered: NewEvent,
  isGated: boolean,
  { pid, actor, at, mask }: RegisterIntent & Pick<Rules, 'mask'>,
  continues: SessionContinued | undefined,
) {
  const record = evolve(null, { pid, seq: 1, at, actor, ...registered })
  const more = continues === undefined ? {} : { continues }
  return firstEvents(record, isGated, { actor, at, mask, ...more })
}

/** In the transaction of the registration: the logs of the session may be pruned until then. */
function refuseContinuing(
  { restarted, goneLog }: RegisterFacts,
  { continuesSession, branch, request: { restartOf = '' } }: RegisterIntent,
): Refusal | undefined {
  if (branch !== undefined) return goneLog === undefined ? undefined : prunedLog(goneLog)
  if (continuesSession === undefined) return undefined
  const gone = goneLog ?? (restarted === null ? restartOf : undefined)
  if (gone === undefined) return restarted === null ? undefined : refuseRestore(restarted.record)
  const remedy = 'Start another agent, with what is left to do as its goal.'
  return notRestorable(restartOf, `the log of ${gone}, a part of its session, was pruned`, remedy)
}

/** In the transaction of the registration: the row of the other process is compared, so it cannot be pruned before. */
function refuseFork({ parent, viewOf }: RegisterFacts, { view }: RegistrationRequest): Refusal | undefined {
  if (view === undefined) return undefined
  const of = view.of === undefined ? parent : (viewOf ?? null)
  if (of !== null) return refuseView(of.record, view)
  return refusal(
    view.of === undefined ? 'invalid_request' : 'unknown_pid',
    `There is no process ${view.of ?? 'above it'} whose objects it could see.`,
    'Name a process that exists, or leave the view out.',
  )
}

function postponed(until: number): NewEvent {
  return newEvent({ type: 'postponed', payload: { until } })
}

function refusePaths(lending: LendingFacts | undefined, request: RegistrationRequest): Refusal | undefined {
  const paths = lending === undefined ? null : delegatedPaths(request)
  return lending === undefined || paths === null ? undefined : refuseLending(lending, paths)
}

function refused(reason: Refusal): RegisterDecision {
  return { type: 'refuse', refusal: reason }
}
