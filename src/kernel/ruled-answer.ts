import { type Approval, isPending } from '../core/approval/approval.ts'
import { type Answer, isOver } from '../core/approval/decide-answer.ts'
import { deniedEdit, deniedSince, refuseEdit, unresolvedEdit } from '../core/approval/edit.ts'
import { actionOf, actionText, type ResolvedAction } from '../core/capability/action.ts'
import type { Need } from '../core/capability/need.ts'
import { ALLOWED, type RuleRef, type Ruling } from '../core/capability/ruling.ts'
import type { JsonObject } from '../core/json/json.ts'
import type { ProcessRecord } from '../core/process/record.ts'
import { isRefusal, type Refusal } from '../core/refusal.ts'
import type { Edges } from './edges.ts'
import type { PlanPart } from './plan-part.ts'
import { ruleOnRegistration } from './rule-on-registration.ts'
import { ruleOnRequest } from './rule-on-request.ts'
import { giveBackUses, reserveUses, type Uses } from './rule-uses.ts'
import type { WorkingRows } from './working-rows.ts'

/** An edited spec, and what the host found out about it. */
export interface Edit {
  readonly spec: JsonObject
  readonly resolved: ResolvedAction | null
  /** The host that resolved it. */
  readonly host?: string | null
  /** The effects of an edited tool call, if its executor knows them. */
  readonly effects?: readonly Need[] | undefined
}

/** A yes that does not count. `rule`: the rule that denies the action. */
export interface RefusedYes {
  readonly refusal: Refusal
  readonly rule: RuleRef | null
}

/** A yes as it counts: ruled on again, with the uses that are reserved for it now. */
interface RuledYes {
  readonly answer: Answer
  readonly ruling?: Ruling
  readonly uses?: Uses
}

/**
 * Rules on a yes: rules that were added since the request was asked deny it as well as its edit. The uses that were reserved for the
 * request are given back before, and those of this ruling are reserved.
 */
export function* ruledAnswer(
  edges: Edges,
  rows: WorkingRows,
  approval: Approval,
  { answer, edit }: { readonly answer: Answer; readonly edit?: Edit },
  at: number,
): PlanPart<RuledYes | RefusedYes> {
  const { pid, request } = approval
  if (answer.type !== 'approve' || !isPending(approval) || isOver(approval, at)) return { answer }
  const row = yield* rows.process(pid)
  if (row === null || request.type !== 'permission') return { answer }
  yield* giveBackUses(rows, approval)
  const ruled =
    edit === undefined
      ? { answer, ruling: yield* ruleOnRequest(rows, request, row.record, at) }
      : yield* ruledEdit(edges, rows, { request, record: row.record, answer, edit, at })
  if (isRefusal(ruled)) return { refusal: ruled, rule: null }
  const { ruling } = ruled
  if (ruling.type === 'deny') {
    const refusal = edit === undefined ? deniedSince(approval.id, ruling) : deniedEdit(pid, ruling)
    return { refusal, rule: ruling.rule }
  }
  const uses = ruling.uses.map(({ subject, id }) => ({ subject, id }))
  yield* reserveUses(rows, uses)
  return { ...ruled, uses }
}

/** The answer with the action hash of its edit, and what the rules of the asker say about that action. */
function* ruledEdit(
  edges: Edges,
  rows: WorkingRows,
  asked: {
    readonly request: Extract<Approval['request'], { type: 'permission' }>
    readonly record: ProcessRecord
    readonly answer: Extract<Answer, { type: 'approve' }>
    readonly edit: Edit
    readonly at: number
  },
): PlanPart<{ readonly answer: Answer; readonly ruling: Ruling } | Refusal> {
  const { request, record, answer, edit, at } = asked
  const unlike = refuseEdit(record, edit.spec)
  if (unlike !== undefined) return unlike
  const { host } = request.action
  // Another host has other programs and folders: what the command does there is not known here.
  if (record.kind === 'command' && (edit.resolved === null || (host !== null && edit.host !== host)))
    return unresolvedEdit(record.pid, host)
  const ruled = yield* ruleOnRegistration(edges, rows, {
    registration: { ...record, spec: edit.spec },
    actor: request.subject,
    at,
    here: host === null ? [] : [`host:${host}`],
    resolved: edit.resolved,
    envRef: record.envRef ?? undefined,
    // Whether its asker chose the environment is not on record.
    isEnvironmentNamed: true,
    session: null,
    places: undefined,
    looksLeft: 0,
    boundBy: request.boundBy ?? [],
    effects: edit.effects,
  })
  const action = actionOf({ ...record, spec: edit.spec }, request.subject, host, edit.resolved)
  const actionHash = action === null ? request.actionHash : edges.hash(actionText(action))
  const edited: Answer = { ...answer, edit: { spec: edit.spec, actionHash } }
  return { answer: edited, ruling: ruled.type === 'ruled' ? ruled.ruled.ruling : ALLOWED }
}
