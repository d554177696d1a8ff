import type { Approval } from '../core/approval/approval.ts'
import { isDestructive } from '../core/approval/destructive.ts'
import type { AuditEntry } from '../core/audit/entry.ts'
import { type Action, actionOf, actionText, type ResolvedAction } from '../core/capability/action.ts'
import { needText } from '../core/capability/need.ts'
import { sameJson } from '../core/json/canonical.ts'
import { asJson, type JsonObject } from '../core/json/json.ts'
import type { ProcessRecord } from '../core/process/record.ts'
import { askInstead } from './ask-instead.ts'
import { confirmFiles } from './confirm-files.ts'
import type { Edges } from './edges.ts'
import type { Work } from './executor.ts'
import type { PlanPart } from './plan-part.ts'
import type { HostFacts } from './register-one.ts'
import { type MissingPlace, missingPlace, ruleOnRegistration } from './rule-on-registration.ts'
import { giveBackUses } from './rule-uses.ts'
import { WorkingRows } from './working-rows.ts'

/**
 * Compares the action that is about to begin with the approved one, or its files with those that rules allowed. If it differs, because
 * a program, its folder or its environment has changed meanwhile, it is asked about again, and the process waits without a holder.
 * False: it must not begin.
 */
export async function confirmAction(
  edges: Edges,
  work: Work,
  resolved: ResolvedAction,
  here: string | null,
): Promise<boolean> {
  const { record } = work
  if (record.gate === null) return confirmFiles(edges, work, resolved, here)
  const { approval: id, actionHash: approved } = record.gate
  const asked = await edges.store.ask({ ask: 'approval', id })
  // Pruned with its process only.
  if (asked?.request.type !== 'permission') return false
  const before = asked.request.action
  const { subject, host: approvedHost } = before
  // Another kernel of the store may be about to begin it, on a machine that the person was not asked about.
  const host = approvedHost === null ? null : here
  const spec = record.effectiveSpec ?? record.spec
  const action = actionOf({ ...record, spec }, subject, host, resolved)
  const actionHash = action === null ? approved : edges.hash(actionText(action))
  if (action === null || actionHash === approved) return true
  const at = edges.clock.now()
  const { reviewUntil: _, ...kept } = asked
  const sameCard: Approval = {
    ...kept,
    id: nextIdOf(id),
    state: 'pending',
    askedAt: at,
    pushAt: at,
    // The same time to answer as before.
    expiresAt: asked.expiresAt === null ? null : at + (asked.expiresAt - asked.askedAt),
    request: {
      ...asked.request,
      variables: resolved.variables,
      action,
      actionHash,
      // The rules of the other grants are about the action that was asked about before.
      grants: ['once'],
      grantRules: { process: [], session: [] },
      alwaysRule: null,
      repeatHash: actionHash,
      // What has changed since it was asked for is for a person to judge.
      reviewer: null,
    },
    answer: null,
  }
  return askInstead(edges, work, at, function* (looks) {
    const { places, looksLeft } = looks
    const now = { record, spec, resolved, host, at, places, looksLeft }
    const approval = yield* withFactsOf(edges, asked, sameCard, now)
    if ('type' in approval) return approval
    return { approval, entry: entryOf(approval, changedParts(before, action)) }
  })
}

/**
 * The second request with the effects of the action that is about to begin, so that a person sees them, and a yes is ruled on
 * with them.
 */
function* withFactsOf(
  edges: Edges,
  asked: Approval,
  again: Approval,
  now: Pick<HostFacts, 'places' | 'looksLeft'> & {
    readonly record: ProcessRecord
    readonly spec: JsonObject
    readonly resolved: ResolvedAction
    readonly host: string | null
    readonly at: number
  },
): PlanPart<Approval | MissingPlace> {
  const { record, spec, resolved, host, at, places, looksLeft } = now
  const { request } = again
  if (request.type !== 'permission') return again
  // Only to rule: the uses stay reserved.
  const rows = new WorkingRows()
  yield* giveBackUses(rows, asked)
  const answer = yield* ruleOnRegistration(edges, rows, {
    registration: { ...record, spec },
    actor: request.subject,
    at,
    here: host === null ? [] : [`host:${host}`],
    resolved,
    envRef: record.envRef ?? undefined,
    isEnvironmentNamed: true,
    session: null,
    places,
    looksLeft,
  })
  const missing = missingPlace(answer)
  if (missing !== undefined) return missing
  if (answer.type !== 'ruled') return again
  const { ruling, needs, subject } = answer.ruled
  return {
    ...again,
    request: {
      ...request,
      needs: needs.map(needText),
      effects: needs,
      boundBy: [...new Set([...(request.boundBy ?? []), ...subject.sets])],
      defaultToNo: isDestructive(needs),
      rule: ruling.rule ?? request.rule,
      justification: ruling.type === 'ask' ? ruling.justification : request.justification,
    },
  }
}

/** The members of an action that differ from those that were approved. */
function changedParts(before: Action, now: Action): readonly string[] {
  const parts = ['act', 'host', 'cwd', 'environmentHash', 'sandbox', 'parent'] as const
  return parts.filter((part) => !sameJson(asJson({ part: before[part] }), asJson({ part: now[part] })))
}

function entryOf({ id, pid, request, askedAt }: Approval, changed: readonly string[]): AuditEntry {
  return {
    at: askedAt,
    actor: request.subject,
    action: 'ask_again',
    target: `process:${pid}`,
    decision: 'asked',
    rule: request.type === 'permission' ? request.rule : null,
    reason: 'The action has changed since it was approved.',
    inputs: { approval: id, changed: [...changed] },
    trace: null,
  }
}

/** The id of the next approval of the same process. */
function nextIdOf(id: string): string {
  const [first = id, count = '1'] = id.split('-')
  return `${first}-${Number(count) + 1}`
}
