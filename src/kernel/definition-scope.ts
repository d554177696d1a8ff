import { agentOfSession } from '../core/agent/session.ts'
import type { Ceiling } from '../core/capability/ceiling.ts'
import type { Change } from '../core/change.ts'
import { RefusedError } from '../core/errors.ts'
import { type Placement, resolvePlacement } from '../core/placement/placement.ts'
import type { Actor } from '../core/process/record.ts'
import { type Refusal, refusal } from '../core/refusal.ts'
import type { OccurrenceRequest } from '../core/schedule/schedule.ts'
import { definitionEnded } from '../core/session/session.ts'
import { know } from '../store/contract.ts'
import type { Edges } from './edges.ts'
import type { PlanPart } from './plan-part.ts'
import { openSession } from './sessions.ts'

/** The session and the ceilings of the actor that creates or edits a schedule or a trigger. */
export async function creatorOf(
  { store }: Edges,
  actor: Actor,
): Promise<{ parentSession?: string; ceilings: readonly Ceiling[] }> {
  if (actor.startsWith('session:')) {
    const parentSession = actor.slice('session:'.length)
    return { parentSession, ceilings: await ceilingsOfSession(store, parentSession) }
  }
  if (!actor.startsWith('process:')) return { ceilings: [] }
  const row = await store.ask({ ask: 'process', pid: actor.slice('process:'.length) })
  const session = row?.record.owner.session
  if (row === null || session === undefined) throw new RefusedError(outsideOfSessions(actor))
  return { parentSession: session, ceilings: row.record.ceilings ?? [] }
}

/** The ceilings of the agent whose session it is, or is below. The nearest agent has those of all agents above it. */
async function ceilingsOfSession(store: Edges['store'], id: string): Promise<readonly Ceiling[]> {
  const session = await store.ask({ ask: 'session', id })
  for (const one of [id, ...(session?.sessionsAbove ?? [])]) {
    const agent = agentOfSession(one)
    const row = agent === null ? null : await store.ask({ ask: 'process', pid: agent })
    if (row !== null) return row.record.ceilings ?? []
  }
  return []
}

/** Opens the session of a new schedule or trigger: below that of its creator, if an agent creates it. */
export async function openDefinitionSession(
  edges: Edges,
  actor: Actor,
  session: string,
  label: string,
  parentSession: string | undefined,
): Promise<void> {
  const opened = await openSession(edges, actor, session, label, undefined, undefined, parentSession)
  // An agent that opened a session of this name below its own could act on what a person defines.
  if (parentSession === undefined && opened.sessionsAbove !== undefined)
    throw new RefusedError(sessionTaken(opened.id))
}

/** Refuses an actor that may not act on the session of a schedule or a trigger. */
export function* refuseDefinition(
  edges: Edges,
  actor: Actor,
  session: string,
): PlanPart<Refusal | undefined> {
  const found = yield* know({ ask: 'session', id: session })
  const sessionsAbove = found?.sessionsAbove ?? []
  return edges.authorize(actor, 'write', { type: 'session', id: session, sessionsAbove })
}

/** Refuses to resume a schedule or a trigger whose session has ended, by itself or with one above it. */
export function* refuseEnded(
  definition: { readonly noun: 'schedule' | 'trigger'; readonly id: string },
  session: string,
): PlanPart<Refusal | undefined> {
  const found = yield* know({ ask: 'session', id: session })
  if (found === null || found.endedAt === null) return undefined
  let endedAbove: string | undefined
  // The highest of them is the one that was ended.
  for (const id of found.sessionsAbove ?? [])
    if ((yield* know({ ask: 'session', id }))?.endedAt != null) endedAbove = id
  return definitionEnded(definition, found, endedAbove)
}

/** A command runs where its definition was made, whichever kernel registers the occurrence. */
export function placedRequest(request: OccurrenceRequest, here: readonly Placement[]): OccurrenceRequest {
  const placement = resolvePlacement(request.placement, request.kind, null, here)
  return placement === null ? request : { ...request, placement }
}

/** The session of a definition uses its environments, so that they stay between two occurrences. */
export function environmentUses({
  request,
  session,
}: {
  readonly request: OccurrenceRequest
  readonly session: string
}): Change[] {
  const refs = [request.envRef, request.baseEnvRef].filter((ref) => ref !== undefined)
  return refs.map((ref) => ({ type: 'environment_used', ref, by: `session:${session}` }))
}

function sessionTaken(session: string): Refusal {
  return refusal(
    'conflict',
    `The session ${session} exists, and is below another one.`,
    `Choose another name, or delete it: reeve session delete ${session}.`,
    { session },
  )
}

function outsideOfSessions(actor: Actor): Refusal {
  return refusal(
    'denied',
    `${actor} belongs to no session, and a schedule or trigger needs one that its occurrences are bound by.`,
    'Let the host make it.',
    { subject: actor },
  )
}
