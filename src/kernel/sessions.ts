import { deletedSessionAccountOf } from '../core/allowance/account.ts'
import type { Amounts } from '../core/allowance/amounts.ts'
import { type Act, isDenial } from '../core/audit/denial.ts'
import type { Right } from '../core/capability/right.ts'
import { RefusedError } from '../core/errors.ts'
import type { Pid } from '../core/process/pid.ts'
import type { Actor } from '../core/process/record.ts'
import { isRefusal, type Refusal } from '../core/refusal.ts'
import {
  type DeletedSession,
  decideDeleteSession,
  decideEndSession,
  decideEndTurn,
  decideOpenSession,
  decideOpenTurn,
  decideTouchSession,
  openedIn,
  RIGHT_TO_GIVE_ALLOWANCE,
  rightToDelete,
  rightToOpen,
  type ScopeDecision,
  type Session,
  type Turn,
} from '../core/session/session.ts'
import { know, type Plan } from '../store/contract.ts'
import { carveForSession } from './allowances.ts'
import { auditedPlan } from './audit.ts'
import type { Edges } from './edges.ts'
import { performEach } from './perform.ts'
import type { PlanPart } from './plan-part.ts'
import { type AskedPreset, hasGivenRules, presetChanges } from './presets.ts'

/** Opening an open session changes nothing, unless it gives it the allowance or the preset that it does not have yet. */
export async function openSession(
  edges: Edges,
  actor: Actor,
  id: string,
  label: string | null,
  allowance?: Amounts,
  workspace?: string,
  parentSession?: string,
  preset?: AskedPreset,
): Promise<Session> {
  const asked = {
    id,
    label,
    ...(allowance === undefined ? {} : { allowance }),
    ...(parentSession === undefined ? {} : { parentSession }),
  }
  // After symbolic links: the agent could let one point to another folder later.
  const folder =
    workspace === undefined
      ? undefined
      : ((await edges.workspaces?.files.look(workspace))?.folder ?? workspace)
  const isAgent = actor.startsWith('session:') || actor.startsWith('process:')
  const opened = await changeSession(
    edges,
    { actor, action: 'openSession', id },
    (session, at, deleted, parent) =>
      openedIn(decideOpenSession({ session, deleted, parent }, asked, at), folder, isAgent),
    rightToOpen(allowance),
    parentSession,
    preset,
  )
  edges.workspaces?.learn(opened)
  if (edges.sessionPreset !== undefined || preset !== undefined) edges.onAudited?.()
  return opened
}

export function touchSession(edges: Edges, actor: Actor, id: string): Promise<Session> {
  return changeSession(edges, { actor, action: 'touchSession', id }, (session, at) =>
    decideTouchSession(session, id, at),
  )
}

export function endSession(edges: Edges, actor: Actor, id: string): Promise<Session> {
  return changeSession(edges, { actor, action: 'endSession', id }, (session, at) =>
    decideEndSession(session, id, at),
  )
}

export function markDeleted(edges: Edges, actor: Actor, id: string): Promise<Session> {
  return changeSession(
    edges,
    { actor, action: 'deleteSession', id },
    (session, at) => decideDeleteSession(session, id, at),
    function* (session) {
      const rules = yield* know({ ask: 'ruleSet', subject: `session:${id}` })
      const below = yield* know({ ask: 'sessions', parent: id, after: null, limit: 1 })
      const hasRules = hasGivenRules(rules, edges.sessionPreset)
      return rightToDelete(session, { hasRules, hasSessionsBelow: below.length > 0 })
    },
  )
}

export function openTurn(edges: Edges, actor: Actor, id: { session: string; turn: string }): Promise<Turn> {
  return changeTurn(edges, { actor, action: 'openTurn', id }, (session, turn, at) =>
    decideOpenTurn(session, turn, id, at),
  )
}

export function endTurn(edges: Edges, actor: Actor, id: { session: string; turn: string }): Promise<Turn> {
  return changeTurn(edges, { actor, action: 'endTurn', id }, (_session, turn, at) =>
    decideEndTurn(turn, id, at),
  )
}

const PAGE = 200

/** Removes every reference to a session: its grants, its notices, and the wake targets of other processes. */
export async function strip(
  edges: Edges,
  self: string,
  id: string,
): Promise<{ revoked: number; noticesDropped: number; unwoken: Pid[] }> {
  const unwoken: Pid[] = []
  for (;;) {
    const pids = await edges.store.ask({ ask: 'waking', session: id, limit: PAGE })
    if (pids.length === 0) break
    const at = edges.clock.now()
    await performEach(
      edges,
      pids.map(
        (pid) => ({ type: 'clear_wake_target', pid, session: id, actor: `kernel:${self}`, at }) as const,
      ),
    )
    unwoken.push(...pids)
  }
  const noticesDropped = await countNotices(edges, `session:${id}`)
  const revoked = await edges.store.write(function* () {
    const grants = yield* know({ ask: 'grants', session: id })
    const revokes = grants.map(({ session, pid }) => ({ type: 'revoke', session, pid }) as const)
    return {
      answer: grants.length,
      changes: [...revokes, { type: 'drop_notices', scope: `session:${id}` } as const],
    }
  })
  return { revoked, noticesDropped, unwoken }
}

async function countNotices(edges: Edges, scope: string): Promise<number> {
  let count = 0
  for (let after = 0; ; ) {
    const notices = await edges.store.ask({ ask: 'notices', scope, after, limit: PAGE })
    count += notices.length
    if (notices.length < PAGE) return count
    after = notices.at(-1)?.position ?? after
  }
}

/** An act on a session or on a turn. */
interface ScopeAct<Id> {
  readonly actor: Actor
  /** The verb. */
  readonly action: string
  readonly id: Id
}

function changeSession(
  edges: Edges,
  { actor, action, id }: ScopeAct<string>,
  decide: (
    session: Session | null,
    at: number,
    deleted: DeletedSession,
    parent: Session | null,
  ) => ScopeDecision<Session>,
  right: Right | ((session: Session | null) => PlanPart<Right>) = 'write',
  parentSession?: string,
  asked?: AskedPreset,
): Promise<Session> {
  const act = { actor, action, target: `session:${id}` }
  return orThrow(edges, act, function* () {
    const was = yield* know({ ask: 'session', id })
    const parent = parentSession === undefined ? null : yield* know({ ask: 'session', id: parentSession })
    const needed = typeof right === 'string' ? right : yield* right(was)
    const denied = refuseSession(edges, actor, needed, { id, was, parentSession })
    if (denied !== undefined) return { answer: denied, changes: [] }
    const deleted = was === null ? yield* know({ ask: 'account', id: deletedSessionAccountOf(id) }) : null
    const ofDeleted = {
      hadAllowance: deleted !== null,
      mayGiveAllowance:
        edges.authorize(actor, RIGHT_TO_GIVE_ALLOWANCE, { type: 'session', id }) === undefined,
    }
    const decision = decide(was, edges.clock.now(), ofDeleted, parent)
    if (decision.type === 'refuse') return { answer: decision.refusal, changes: [] }
    const preset = yield* presetChanges(edges, actor, id, { isNew: was === null, asked })
    if (isRefusal(preset)) return { answer: preset, changes: [] }
    if (decision.type === 'keep') return { answer: decision.value, changes: preset }
    const put = { type: 'session', was, session: decision.value } as const
    // Notices that arrived late were meant for the deleted session of the same name.
    const fresh = [
      ...(was === null ? [{ type: 'drop_notices', scope: `session:${id}` } as const] : []),
      ...(deleted === null ? [] : [{ type: 'account_gone', id: deleted.id } as const]),
    ]
    const { allowance } = decision.value
    if (allowance === undefined || was?.allowance !== undefined)
      return { answer: decision.value, changes: [...fresh, put, ...preset] }
    const carved = yield* carveForSession(decision.value, allowance)
    return isRefusal(carved)
      ? { answer: carved, changes: [] }
      : { answer: decision.value, changes: [...fresh, put, ...preset, ...carved] }
  })
}

/** A session acts on itself and on the sessions below it. It may open sessions below itself, and below no other. */
function refuseSession(
  edges: Edges,
  actor: Actor,
  right: Right,
  { id, was, parentSession }: { id: string; was: Session | null; parentSession: string | undefined },
): Refusal | undefined {
  if (was === null && parentSession !== undefined)
    return edges.authorize(actor, right, { type: 'session', id: parentSession })
  return edges.authorize(actor, right, { type: 'session', id, sessionsAbove: was?.sessionsAbove ?? [] })
}

function changeTurn(
  edges: Edges,
  { actor, action, id }: ScopeAct<{ session: string; turn: string }>,
  decide: (session: Session | null, turn: Turn | null, at: number) => ScopeDecision<Turn>,
): Promise<Turn> {
  const act = { actor, action, target: `session:${id.session}` }
  return orThrow(edges, act, function* () {
    const session = yield* know({ ask: 'session', id: id.session })
    const sessionsAbove = session?.sessionsAbove ?? []
    const denied = edges.authorize(actor, 'write', { type: 'session', id: id.session, sessionsAbove })
    if (denied !== undefined) return { answer: denied, changes: [] }
    const was = yield* know({ ask: 'turn', session: id.session, id: id.turn })
    const decision = decide(session, was, edges.clock.now())
    if (decision.type === 'refuse') return { answer: decision.refusal, changes: [] }
    return {
      answer: decision.value,
      changes: decision.type === 'keep' ? [] : [{ type: 'turn', was, turn: decision.value }],
    }
  })
}

/** Writes a plan whose answer may be a refusal. Throws the refusal; the audit has it if it is a denial. */
export async function orThrow<Answer>(
  edges: Edges,
  act: Omit<Act, 'at'>,
  plan: Plan<Answer | Refusal>,
): Promise<Answer> {
  const answer = await edges.store.write(auditedPlan(edges, { ...act, at: edges.clock.now() }, plan))
  if (!isRefusal(answer)) return answer
  if (isDenial(answer)) edges.onAudited?.()
  throw new RefusedError(answer)
}
