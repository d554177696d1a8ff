import assert from 'node:assert/strict'
import type { Approval, ApprovalGrant, PermissionRequest } from '../../core/approval/approval.ts'
import type { Answer } from '../../core/approval/decide-answer.ts'
import type { Rule } from '../../core/capability/rule.ts'
import type { JsonObject } from '../../core/json/json.ts'
import type { Actor, ProcessRecord } from '../../core/process/record.ts'
import { answerApproval } from '../../kernel/answer-approval.ts'
import { openSession } from '../../kernel/sessions.ts'
import { changeRules, ruleSet } from './authority-rows.ts'
import type { Bench } from './bench.ts'

/** The session that asks. */
export const actor: Actor = 'session:s1'
export const YES: Answer = { type: 'approve', grant: 'once' }
/** Asks a person about each run of the tool `deploy`. */
export const ask: Rule = { id: 'r1', effect: 'ask', rights: ['execute'], resource: 'tool:deploy' }

type Permission = Approval & { readonly request: PermissionRequest & Approval['request'] }

export function deploy(input: string) {
  return { kind: 'tool', spec: { tool: 'deploy', input } } as const
}

/** Opens two sessions, and stores the rules. */
export async function setUp(bench: Bench, rules: readonly Rule[] = [ask], subject = 'home'): Promise<void> {
  for (const session of ['s1', 's2']) await openSession(bench.edges, 'host', session, null)
  await changeRules(bench.store, subject, () => ({ ...ruleSet(subject), rules }))
}

/** Registers a deploy that a rule asks about. */
export async function requestOf(bench: Bench, input: string, by: Actor = actor): Promise<Permission> {
  const { gate } = await register(bench, input, by)
  assert.equal(gate?.state, 'pending', `${input} of ${by} is asked about`)
  const approval = await requestOfId(bench, gate?.approval ?? '')
  assert.ok(approval.request.type === 'permission')
  return { ...approval, request: approval.request }
}

export async function requestOfId(bench: Bench, id: string): Promise<Approval> {
  const found = await bench.store.ask({ ask: 'approval', id })
  assert.ok(found)
  return found
}

export async function isAsked(bench: Bench, input: string, by: Actor = actor): Promise<boolean> {
  return (await register(bench, input, by)).gate !== null
}

export function answer(bench: Bench, id: string, given: Answer, by: Actor = 'human:ada') {
  return answerApproval(bench.edges, 'k1', { id, by, answer: given })
}

export async function approveFor(
  bench: Bench,
  { id, request }: Permission,
  grant: ApprovalGrant,
): Promise<void> {
  const rule = grant === 'always' && request.alwaysRule !== null ? { rule: request.alwaysRule } : {}
  const settled = await answer(bench, id, { type: 'approve', grant, ...rule })
  assert.equal(settled.type, 'settled')
}

/** Approves a request with another spec. */
export function edit(bench: Bench, id: string, spec: JsonObject) {
  return answerApproval(bench.edges, 'k1', {
    id,
    by: 'human:ada',
    answer: YES,
    edit: { spec, resolved: null },
  })
}

/** The entries of the audit. */
export async function audited(bench: Bench) {
  const { items } = await bench.store.ask({ ask: 'audit', after: null, limit: 100 })
  return items.map(({ text }) => JSON.parse(text))
}

async function register(bench: Bench, input: string, by: Actor): Promise<ProcessRecord> {
  return (await bench.register(deploy(input), { actor: by })).record
}
