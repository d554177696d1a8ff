import { decideDelegation } from '../core/capability/delegate.ts'
import type { Rule } from '../core/capability/rule.ts'
import { emptySet } from '../core/capability/rule-set.ts'
import type { Change } from '../core/change.ts'
import { asJson } from '../core/json/json.ts'
import type { Actor } from '../core/process/record.ts'
import { isRefusal, type Refusal, refusal } from '../core/refusal.ts'
import { know } from '../store/contract.ts'
import { refusalChanges } from './audit.ts'
import type { Edges } from './edges.ts'
import type { PlanPart } from './plan-part.ts'
import { addition, auditOf, removal, write } from './policies.ts'
import { subjectOf } from './rule-facts.ts'
import { WorkingRows } from './working-rows.ts'

export interface Delegating {
  readonly actor: Actor
  /** The subject that passes the rule on; null: the actor itself. */
  readonly from: string | null
  readonly to: string
  readonly ruleOf: (id: string) => Rule | Refusal
}

/** Passes on a rule, narrower than what the subject holds. It counts only while every rule of its chain does. */
export function delegateRule(edges: Edges, { actor, from, to, ruleOf }: Delegating): Promise<Rule | Refusal> {
  return write<Rule>(edges, function* (at) {
    const rows = new WorkingRows()
    const holder = yield* holderOf(rows, actor, from)
    if (isRefusal(holder)) return yield* refused(edges, { actor, to, at }, holder)
    const denied = holder === to ? toItself(holder) : yield* refuseReceiver(edges, rows, actor, to)
    if (denied !== undefined) return yield* refused(edges, { actor, to, at }, denied)
    const held = (yield* know({ ask: 'ruleSet', subject: holder })) ?? emptySet(holder)
    const added = yield* addition(to, (id) => {
      const asked = ruleOf(id)
      if (isRefusal(asked)) return asked
      const decision = decideDelegation(held, asked, at)
      return decision.type === 'refuse' ? decision.refusal : decision.rule
    })
    if (isRefusal(added)) return yield* refused(edges, { actor, to, at }, added)
    const { rule, change } = added
    const links = (rule.delegatedFrom ?? []).map(asJson)
    const audited = { action: 'delegate', inputs: { from: holder, links } }
    return { answer: rule, changes: [change, auditOf(actor, to, rule, 'granted', at, audited)] }
  })
}

/** The refusal, with its entry if it is a denial. */
function* refused(
  edges: Edges,
  { actor, to, at }: { readonly actor: Actor; readonly to: string; readonly at: number },
  answer: Refusal,
): PlanPart<{ readonly answer: Refusal; readonly changes: readonly Change[] }> {
  const act = { at, actor, action: 'delegate', target: to }
  return { answer, changes: yield* refusalChanges(edges, answer, act) }
}

/** Takes back a delegated rule. Everything that was passed on from it no longer counts from the next check on. */
export function revokeDelegated(
  edges: Edges,
  actor: Actor,
  subject: string,
  id: string,
): Promise<Rule | Refusal> {
  return write<Rule>(edges, function* (at) {
    const rows = new WorkingRows()
    const by = (yield* subjectOf(rows, actor))?.actor ?? null
    const was = yield* know({ ask: 'ruleSet', subject })
    const rule = was?.rules.find((one) => one.id === id)
    const links = rule?.delegatedFrom ?? []
    // To others it does not exist: they learn nothing of the rules of a subject that is not theirs.
    const isTheirs = links.length > 0 && (by === null || links.some((link) => link.subject === by))
    if (!isTheirs) return { answer: notDelegated(subject, id), changes: [] }
    const removed = yield* removal(actor, was, { subject, id, at })
    if (isRefusal(removed)) return { answer: removed, changes: [] }
    const audited = { action: 'revokeDelegated' }
    return {
      answer: removed.rule,
      changes: [...removed.changes, auditOf(actor, subject, removed.rule, 'revoked', at, audited)],
    }
  })
}

/** The delegating subject: the actor, or for the host and people the subject that they name. */
function* holderOf(rows: WorkingRows, actor: Actor, from: string | null): PlanPart<string | Refusal> {
  const subject = yield* subjectOf(rows, actor)
  if (subject === null)
    return (
      from ??
      refusal(
        'invalid_input',
        'No rule binds people and the host, so they hold nothing that could be delegated.',
        'Name the session or process that passes its rule on in from, or add a rule.',
        { field: 'from' },
      )
    )
  if (from === null || from === subject.actor) return subject.actor
  return refusal('denied', `${subject.actor} may not delegate for ${from}.`, 'Leave from out.')
}

/** A subject delegates only to sessions and processes that it owns: an allow closes the set of its receiver. */
function* refuseReceiver(
  edges: Edges,
  rows: WorkingRows,
  actor: Actor,
  to: string,
): PlanPart<Refusal | undefined> {
  const id = to.slice(to.indexOf(':') + 1)
  if (to.startsWith('session:')) {
    const session = yield* know({ ask: 'session', id })
    const sessionsAbove = session?.sessionsAbove ?? []
    return edges.authorize(actor, 'write', { type: 'session', id, sessionsAbove })
  }
  const row = yield* rows.process(id)
  // As for a process that is not the actor's: nothing tells whether there is one.
  if (row === null) return undefined
  return edges.authorize(actor, 'signal', { type: 'process', record: row.record })
}

function toItself(subject: string): Refusal {
  return refusal(
    'invalid_input',
    `${subject} cannot delegate to itself.`,
    'Name a process or session below it.',
    { field: 'to' },
  )
}

function notDelegated(subject: string, id: string): Refusal {
  return refusal(
    'not_found',
    `${subject} has no rule ${id} that was delegated by you.`,
    'List the rules with reeve policy; a rule that was not delegated is removed with removeRule.',
  )
}
