import type { Approval } from '../core/approval/approval.ts'
import { visibilityOf } from '../core/authority/visibility.ts'
import { RefusedError } from '../core/errors.ts'
import { asJson, type Json, type JsonObject } from '../core/json/json.ts'
import type { Actor, ProcessRecord } from '../core/process/record.ts'
import { type Refusal, refusal } from '../core/refusal.ts'
import { answerableBy } from '../kernel/answerable.ts'
import type { AnswerRequest } from '../kernel/approvals.ts'
import { unknownApproval } from '../kernel/settle-approval.ts'
import type { OutputOf } from '../verbs/reeve.ts'
import { storedRule } from '../verbs/shapes/rule.ts'
import { specs } from '../verbs/shapes/spec.ts'
import type { ActionParts, ActionsFor } from './action.ts'
import { checkJson, parse } from './parse.ts'
import { checkPatterns } from './spawn.ts'

/** Requests to people, and their answers. */
export function approvalActions({
  kernel,
  actor,
  seat: { through },
}: ActionParts): ActionsFor<'approvals' | 'approval' | 'approve' | 'deny' | 'answerApprovals'> {
  const { store } = kernel.edges
  const settle = async (given: Omit<AnswerRequest, 'by'>): Promise<OutputOf<'approve'>> => {
    const settled = await kernel.approvals.answer({ by: actor, through, ...given })
    if (settled.type === 'refused') throw new RefusedError(settled.refusal)
    return { type: settled.type, approval: settled.approval }
  }
  /** Of these, those that the actor may see: its own, and those that it may answer. */
  const seen = async (approvals: readonly Approval[]) => {
    const others = approvals.filter((approval) => !isSeenBy(actor, approval))
    const answered = others.length === 0 ? new Set() : await answerableBy(kernel.edges, actor, others)
    return approvals.filter((approval) => isSeenBy(actor, approval) || answered.has(approval.id))
  }
  return {
    async approvals({ state, order, person, after, limit }) {
      if (order === 'priority' && seesAll(actor)) {
        const asked = { ask: 'approvalQueue', limit, ...(person === undefined ? {} : { person }) } as const
        const { approvals: first, pending } = await store.ask(asked)
        return { approvals: [...first], next: null, pending }
      }
      const wanted = state === 'any' ? {} : { state }
      const newestFirst = order === 'newest'
      const page = await store.ask({ ask: 'approvals', ...wanted, newestFirst, after: after ?? null, limit })
      return { approvals: await seen(page.items), next: page.next }
    },
    async approval({ id }) {
      const approval = await store.ask({ ask: 'approval', id })
      if (approval === null || (await seen([approval])).length === 0)
        throw new RefusedError(unknownApproval(id))
      return { approval }
    },
    async approve({ id, grant, rule, level, spec }) {
      if ((rule !== undefined || level !== undefined) && grant !== 'always')
        throw new RefusedError(uselessRule(id, grant))
      const stored = level === undefined ? {} : { level }
      const shown = rule === undefined ? {} : { rule: parse(storedRule, rule, 'approve') }
      const edited = spec === undefined ? {} : { edit: (record: ProcessRecord) => checkedSpec(record, spec) }
      return settle({ id, answer: { type: 'approve', grant, ...shown }, ...stored, ...edited })
    },
    deny: ({ id, advice }) =>
      settle({ id, answer: { type: 'deny', ...(advice === undefined ? {} : { advice }) } }),
    async answerApprovals({ answers }) {
      const results: OutputOf<'answerApprovals'>['results'] = []
      for (const { id, ...given } of answers) {
        const answer = given.type === 'approve' ? ({ type: 'approve', grant: 'once' } as const) : given
        const settled = await kernel.approvals.answer({ id, by: actor, answer, through })
        if (settled.type === 'refused') {
          const { code, message, remedy } = settled.refusal
          results.push({ type: 'refused', id, code, message, remedy })
        } else results.push({ type: settled.type, id, approval: settled.approval })
      }
      return { results }
    },
  }
}

/** The edited spec, checked as that of a registration. */
function checkedSpec({ kind }: ProcessRecord, given: JsonObject): JsonObject {
  const spec: Json = checkJson(asJson(parse(specs[kind], given, 'approve')), 'spec')
  if (kind === 'command') checkPatterns(parse(specs.command, given, 'approve'))
  return spec as JsonObject
}

/** A session sees the requests of its processes, and a process its own and those below it; people and the host see all. */
function isSeenBy(actor: Actor, { pid, request }: Approval): boolean {
  if (seesAll(actor)) return true
  if (actor.startsWith('session:')) return request.session === actor.slice('session:'.length)
  const own = actor.slice('process:'.length)
  return request.subject === actor || pid === own || request.ancestors.includes(own)
}

function seesAll(actor: Actor): boolean {
  return visibilityOf(actor).type === 'all'
}

function uselessRule(id: string, grant: string): Refusal {
  return refusal(
    'invalid_input',
    `The approval ${id} stores no rule that you name with the grant ${grant}.`,
    'Leave the rule and its level out, or approve with always.',
    { field: 'rule' },
  )
}
