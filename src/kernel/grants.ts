import type { Act } from '../core/audit/denial.ts'
import type { AuditEntry } from '../core/audit/entry.ts'
import type { Json } from '../core/json/json.ts'
import type { Pid } from '../core/process/pid.ts'
import type { Actor } from '../core/process/record.ts'
import { type Refusal, refusal } from '../core/refusal.ts'
import type { Grant } from '../core/session/grant.ts'
import { sessionEnded, sessionUnknown } from '../core/session/session.ts'
import { know, type Plan } from '../store/contract.ts'
import { type AuditContext, PlannedAudit } from './audit.ts'
import type { Edges } from './edges.ts'
import { unknownPid } from './perform.ts'
import type { PlanPart } from './plan-part.ts'
import { orThrow } from './sessions.ts'

/** Makes processes visible to a session: all of them, or none. */
export function grant(
  edges: Edges,
  actor: Actor,
  session: string,
  pids: readonly Pid[],
  descriptor: Json,
  context: AuditContext = {},
): Promise<Grant[]> {
  const act = { actor, action: 'grant', target: targetOf(pids), trace: context.trace ?? null }
  return audited(edges, act, function* (audit) {
    const refused = (yield* refuseSession(session)) ?? (yield* refusePids(edges, actor, pids))
    if (refused !== undefined) return { answer: refused, changes: [] }
    const at = edges.clock.now()
    const grants = pids.map((pid) => ({ session, pid, descriptor, at }))
    for (const pid of pids) audit.record(entryOf({ actor, at, action: 'grant', pid, context }, { session }))
    return { answer: grants, changes: grants.map((one) => ({ type: 'grant', grant: one }) as const) }
  })
}

/** Revoking a grant that does not exist is no error. */
export function revoke(
  edges: Edges,
  actor: Actor,
  session: string,
  pids: readonly Pid[],
  context: AuditContext = {},
): Promise<number> {
  const act = { actor, action: 'revoke', target: targetOf(pids), trace: context.trace ?? null }
  return audited(edges, act, function* (audit) {
    const refused = yield* refusePids(edges, actor, pids)
    if (refused !== undefined) return { answer: refused, changes: [] }
    const granted = new Set((yield* know({ ask: 'grants', session })).map(({ pid }) => pid))
    const held = [...new Set(pids)].filter((pid) => granted.has(pid))
    const at = edges.clock.now()
    for (const pid of held) audit.record(entryOf({ actor, at, action: 'revoke', pid, context }, { session }))
    return { answer: held.length, changes: held.map((pid) => ({ type: 'revoke', session, pid }) as const) }
  })
}

/** Moves grants from one session to another: all of them, or none if any is missing. */
export function transfer(
  edges: Edges,
  actor: Actor,
  from: string,
  to: string,
  pids: readonly Pid[],
  context: AuditContext = {},
): Promise<Grant[]> {
  const act = { actor, action: 'transferGrants', target: targetOf(pids), trace: context.trace ?? null }
  return audited(edges, act, function* (audit) {
    const denied = edges.authorize(actor, 'grant', { type: 'session', id: from })
    const refused = denied ?? (yield* refuseSession(to))
    if (refused !== undefined) return { answer: refused, changes: [] }
    const held = new Map((yield* know({ ask: 'grants', session: from })).map((one) => [one.pid, one]))
    const missing = pids.filter((pid) => !held.has(pid))
    if (missing.length > 0) {
      const no = refusal(
        'unknown_pid',
        `Session ${from} has no grant for ${missing.join(', ')}.`,
        'Transfer only what it has; nothing was moved.',
        { missing },
      )
      return { answer: no, changes: [] }
    }
    const at = edges.clock.now()
    const moved = pids.map((pid) => ({
      session: to,
      pid,
      descriptor: held.get(pid)?.descriptor ?? null,
      at,
    }))
    for (const pid of pids) {
      const asked = { actor, at, pid, context }
      audit.record(entryOf({ ...asked, action: 'revoke' }, { session: from, transferredTo: to }))
      audit.record(entryOf({ ...asked, action: 'grant' }, { session: to, transferredFrom: from }))
    }
    return {
      answer: moved,
      changes: moved.flatMap((one) => [
        { type: 'revoke', session: from, pid: one.pid } as const,
        { type: 'grant', grant: one } as const,
      ]),
    }
  })
}

/** The process that a denial names; one of several. */
function targetOf([first]: readonly Pid[]): string {
  return first === undefined ? 'store' : `process:${first}`
}

/** Commits a plan with its entries in the audit. Of a refused one, only a denial has an entry. */
async function audited<Answer>(
  edges: Edges,
  act: Omit<Act, 'at'>,
  plan: (audit: PlannedAudit) => ReturnType<Plan<Answer | Refusal>>,
): Promise<Answer> {
  const answer = await orThrow<Answer>(edges, act, function* () {
    const audit = new PlannedAudit(edges)
    const verdict = yield* plan(audit)
    return { ...verdict, changes: [...verdict.changes, ...audit.changes] }
  })
  edges.onAudited?.()
  return answer
}

interface GrantAct {
  readonly actor: Actor
  readonly at: number
  readonly action: 'grant' | 'revoke'
  readonly pid: Pid
  readonly context: AuditContext
}

function entryOf({ actor, at, action, pid, context }: GrantAct, inputs: AuditEntry['inputs']): AuditEntry {
  const { reason = null, trace = null } = context
  const decision = action === 'grant' ? 'granted' : 'revoked'
  return { at, actor, action, target: `process:${pid}`, decision, rule: null, reason, inputs, trace }
}

function* refuseSession(id: string) {
  const session = yield* know({ ask: 'session', id })
  if (session === null) return sessionUnknown(id)
  return session.endedAt === null ? undefined : sessionEnded(session)
}

function* refusePids(
  edges: Edges,
  actor: Actor,
  pids: readonly Pid[],
): PlanPart<ReturnType<typeof refusal> | undefined> {
  for (const pid of pids) {
    const row = yield* know({ ask: 'process', pid })
    if (row === null) return yield* unknownPid(pid)
    const denied = edges.authorize(actor, 'grant', { type: 'process', record: row.record })
    if (denied !== undefined) return denied
  }
  return undefined
}
