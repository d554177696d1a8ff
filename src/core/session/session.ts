import { type Amounts, isSame } from '../allowance/amounts.ts'
import type { Right } from '../capability/right.ts'
import { isRefusal, type Refusal, refusal } from '../refusal.ts'

/** A scope that outlives turns. Processes whose lifetime it is are stopped when it ends. */
export interface Session {
  readonly id: string
  readonly label: string | null
  readonly openedAt: number
  readonly touchedAt: number
  readonly endedAt: number | null
  readonly deleted: boolean
  /** Its end must still be carried to the processes whose lifetime it is. */
  readonly carry: boolean
  /** The total for all its processes; the rest is in its account. */
  readonly allowance?: Amounts
  /** The folders that its agent works in. Their rules bind the session wherever a command of it runs. */
  readonly workspaces?: readonly string[]
  /** The sessions above it, its parent first. They never change. Absent if it has no parent. */
  readonly sessionsAbove?: readonly string[]
}

/** How many sessions may be above one: every process of a session carries their names. */
export const MAX_SESSION_DEPTH = 32

/** How many folders a session may have: each command of it looks at all of them. */
const MAX_WORKSPACES = 32

export function parentSessionOf({ sessionsAbove }: Session): string | null {
  return sessionsAbove?.[0] ?? null
}

/** From input until the agent is idle again. Its id is unique within its session. */
export interface Turn {
  readonly id: string
  readonly session: string
  readonly openedAt: number
  readonly endedAt: number | null
  readonly carry: boolean
}

export type ScopeDecision<Thing> =
  | { readonly type: 'put'; readonly value: Thing }
  | { readonly type: 'keep'; readonly value: Thing }
  | { readonly type: 'refuse'; readonly refusal: Refusal }

/** Facts about a deleted session of the same name. */
export interface DeletedSession {
  readonly hadAllowance: boolean
  /** Whether the actor has the right to give an allowance. */
  readonly mayGiveAllowance: boolean
}

export interface OpenSessionFacts {
  readonly session: Session | null
  readonly deleted: DeletedSession
  /** The session that `parentSession` names; null if there is none. */
  readonly parent: Session | null
}

export interface OpenSessionRequest {
  readonly id: string
  readonly label: string | null
  readonly allowance?: Amounts
  readonly parentSession?: string
}

export function decideOpenSession(
  { session, deleted, parent }: OpenSessionFacts,
  { id, label, allowance, parentSession }: OpenSessionRequest,
  at: number,
): ScopeDecision<Session> {
  if (session === null) {
    if (deleted.hadAllowance && !deleted.mayGiveAllowance) return no(deletedWithAllowance(id))
    const above = sessionsAboveOf(id, parentSession, parent)
    if (isRefusal(above)) return no(above)
    const opened = { id, label, openedAt: at, touchedAt: at, endedAt: null, deleted: false, carry: false }
    return put({
      ...opened,
      ...(allowance === undefined ? {} : { allowance }),
      ...(above.length === 0 ? {} : { sessionsAbove: above }),
      // The rules of the folders of the session above hold for this one, too.
      ...(parent?.workspaces === undefined ? {} : { workspaces: parent.workspaces }),
    })
  }
  if (parentSession !== undefined && parentSession !== parentSessionOf(session))
    return no(otherParent(session, parentSession))
  if (session.endedAt !== null) return no(sessionEnded(session))
  if (allowance === undefined) return { type: 'keep', value: session }
  if (session.allowance === undefined) return put({ ...session, allowance })
  if (isSame(session.allowance, allowance)) return { type: 'keep', value: session }
  return no(
    refusal(
      'conflict',
      `The session ${id} is open, and has another allowance.`,
      'Leave the allowance out, or open a session of another name.',
      { allowance: session.allowance },
    ),
  )
}

/**
 * The decision to open a session, with a folder that its agent works in. A further folder binds as well. Relative paths of rules
 * begin in the first one, so only those of the host and of people come before others.
 */
export function openedIn(
  decision: ScopeDecision<Session>,
  workspace: string | undefined,
  isAgent: boolean,
): ScopeDecision<Session> {
  if (decision.type === 'refuse' || workspace === undefined) return decision
  const { id, workspaces = [] } = decision.value
  if (workspaces.includes(workspace)) return decision
  if (workspaces.length >= MAX_WORKSPACES)
    return no(
      refusal(
        'limit_exceeded',
        `The session ${id} works in ${MAX_WORKSPACES} folders, which is the most.`,
        'Open a session of another name.',
        { limit: 'workspaces', most: MAX_WORKSPACES },
      ),
    )
  const all = isAgent ? [...workspaces, workspace] : [workspace, ...workspaces]
  return put({ ...decision.value, workspaces: all })
}

/** The chain of a new session. A session that does not exist yet is above none, so the chain cannot be a cycle. */
function sessionsAboveOf(
  id: string,
  parentSession: string | undefined,
  parent: Session | null,
): readonly string[] | Refusal {
  if (parentSession === undefined) return []
  if (parent === null) return sessionUnknown(parentSession)
  if (parent.endedAt !== null) return sessionEnded(parent)
  const above = [parent.id, ...(parent.sessionsAbove ?? [])]
  return above.length <= MAX_SESSION_DEPTH
    ? above
    : refusal(
        'limit_exceeded',
        `The session ${id} would have ${above.length} sessions above it, and ${MAX_SESSION_DEPTH} is the most.`,
        'Open it below a session that is less deep.',
        { limit: 'sessionDepth', most: MAX_SESSION_DEPTH },
      )
}

function otherParent(session: Session, asked: string): Refusal {
  const parent = parentSessionOf(session)
  return refusal(
    'conflict',
    `The session ${session.id} exists, and ${parent === null ? 'has no parent' : `its parent is ${parent}`}, not ${asked}.`,
    'A session keeps its parent: leave it out, or open a session of another name.',
    { parentSession: parent },
  )
}

/** Giving or removing an allowance takes a right that the session itself does not have. */
export const RIGHT_TO_GIVE_ALLOWANCE: Right = 'admin'

export function rightToOpen(allowance: Amounts | undefined): Right {
  return allowance === undefined ? 'write' : RIGHT_TO_GIVE_ALLOWANCE
}

/** Facts about a session that is to be deleted. */
export interface DeletionFacts {
  readonly hasRules: boolean
  readonly hasSessionsBelow: boolean
}

/** Deleted and opened again, it or a session below it would escape its limits, its rules, or those of its workspace or its parent. */
export function rightToDelete(session: Session | null, { hasRules, hasSessionsBelow }: DeletionFacts): Right {
  const isBound =
    hasRules || hasSessionsBelow || session?.workspaces !== undefined || session?.sessionsAbove !== undefined
  return isBound ? 'admin' : rightToOpen(session?.allowance)
}

export function decideTouchSession(session: Session | null, id: string, at: number): ScopeDecision<Session> {
  if (session === null) return no(sessionUnknown(id))
  if (session.endedAt !== null) return no(sessionEnded(session))
  return put({ ...session, touchedAt: Math.max(session.touchedAt, at) })
}

export function decideEndSession(session: Session | null, id: string, at: number): ScopeDecision<Session> {
  if (session === null) return no(sessionUnknown(id))
  if (session.endedAt !== null) return { type: 'keep', value: session }
  return put({ ...session, endedAt: at, carry: true })
}

export function decideDeleteSession(session: Session | null, id: string, at: number): ScopeDecision<Session> {
  if (session === null) return no(sessionUnknown(id))
  return put({ ...session, endedAt: session.endedAt ?? at, carry: true, deleted: true })
}

export function decideOpenTurn(
  session: Session | null,
  turn: Turn | null,
  id: { session: string; turn: string },
  at: number,
): ScopeDecision<Turn> {
  if (session === null) return no(sessionUnknown(id.session))
  if (session.endedAt !== null) return no(sessionEnded(session))
  if (turn === null)
    return put({ id: id.turn, session: id.session, openedAt: at, endedAt: null, carry: false })
  return turn.endedAt === null
    ? { type: 'keep', value: turn }
    : no(refusal('turn_ended', `The turn ${turn.id} has ended.`, 'Open another one.'))
}

export function decideEndTurn(
  turn: Turn | null,
  id: { session: string; turn: string },
  at: number,
): ScopeDecision<Turn> {
  if (turn === null)
    return no(
      refusal(
        'turn_unknown',
        `There is no turn ${id.turn} in session ${id.session}.`,
        'Open it first with openTurn.',
      ),
    )
  if (turn.endedAt !== null) return { type: 'keep', value: turn }
  return put({ ...turn, endedAt: at, carry: true })
}

function put<Thing>(value: Thing): ScopeDecision<Thing> {
  return { type: 'put', value }
}

function no<Thing>(refused: Refusal): ScopeDecision<Thing> {
  return { type: 'refuse', refusal: refused }
}

function deletedWithAllowance(id: string): Refusal {
  return refusal(
    'denied',
    `The session ${id} was deleted, and had an allowance: it may not open itself again without one.`,
    'Let the host open it, or open another one.',
    { session: id },
  )
}

export function sessionUnknown(id: string): Refusal {
  return refusal('session_unknown', `There is no session ${id}.`, howToOpen(id), { session: id })
}

/** The remedy for a session that is not open. */
export function howToOpen(id: string): string {
  return `Open it first: reeve session open ${id}, or openSession.`
}

/** A schedule or a trigger whose session has ended stays paused: nothing can be registered in it. */
export function definitionEnded(
  { noun, id }: { readonly noun: 'schedule' | 'trigger'; readonly id: string },
  session: Session,
  endedAbove: string | undefined,
): Refusal {
  const cause = endedAbove === undefined ? '' : `, with the session ${endedAbove} above it`
  return refusal(
    'session_ended',
    `The ${noun} ${id} cannot run again: its session ${session.id} has ended${cause}.`,
    `Remove it (reeve ${noun} remove ${id}), and add it under another name.`,
    { session: session.id },
  )
}

export function sessionEnded(session: Session): Refusal {
  return refusal('session_ended', `The session ${session.id} has ended.`, 'Open another one.')
}
