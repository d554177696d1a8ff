import { fold } from '../core/process/fold.ts'
import type { Owner } from '../core/process/record.ts'
import { decideRegister, type RegisterFacts, type RegisterIntent } from '../core/process/register.ts'
import { ownerOf } from '../core/process/registration-defaults.ts'
import type { RegistrationRequest } from '../core/process/registration-request.ts'
import type { Refusal } from '../core/refusal.ts'
import { carvedChanges } from './allowances.ts'
import type { Edges } from './edges.ts'
import { guardOfName } from './name-lookup.ts'
import type { PlanPart } from './plan-part.ts'
import type { Registered } from './register.ts'
import { type RegistrationContext, registerFacts } from './register-facts.ts'
import type { WorkingRows } from './working-rows.ts'

/** What is compared between the requests of one plan. */
export type NamedRequest = Pick<RegistrationRequest, 'name' | 'ifRunning'> & { readonly owner: Owner }

/** One registration of a plan: reads the facts, asks for permission, decides, and adds the changes to `rows`. */
export function* registerOne(
  edges: Edges,
  rows: WorkingRows,
  intent: RegisterIntent,
  context: RegistrationContext & { readonly names: NamedRequest[] },
): PlanPart<Registered> {
  const facts = yield* registerFacts(rows, intent, context)
  const { request, pid, actor, at } = intent
  const owner = ownerOf(request, facts.parent?.record ?? null, actor)
  context.names.push({ ...request, owner })
  const denied = deny(edges, intent, facts, owner)
  if (denied !== undefined) return { type: 'refused', refusal: denied }
  const decision = decideRegister(facts, intent, edges.rules)
  if (decision.type !== 'register')
    return decision.type === 'refuse' ? { type: 'refused', refusal: decision.refusal } : decision
  if (decision.replaced !== null) {
    const { record } = decision.replaced
    const notEnded = edges.authorize(actor, 'signal', { type: 'process', record })
    if (notEnded !== undefined) return { type: 'refused', refusal: notEnded }
    context.replaced.push(decision.replaced)
  }
  if (request.ifRunning !== undefined) rows.add([yield* guardOfName(owner)])
  const { lease } = decision
  const child = fold({ pid, was: null, group: facts.group, events: decision.events, lease, actor, at })
  rows.add(child.changes)
  rows.add(carvedChanges(facts.account, decision.carved))
  const { parent: was } = facts
  if (was !== null) {
    const { pid: parentPid } = was.record
    const events = decision.parentEvents
    rows.add(fold({ pid: parentPid, was, group: null, events, lease: undefined, actor, at }).changes)
  }
  const { envRef } = child.row.record
  if (envRef !== null && envRef !== intent.defaultEnvRef)
    rows.add([{ type: 'environment_used', ref: envRef, by: `process:${pid}` }])
  for (const { session, descriptor } of request.grants ?? []) {
    rows.add([{ type: 'grant', grant: { session, pid, descriptor: descriptor ?? null, at } }])
  }
  return { type: 'registered', row: child.row }
}

/** Whether the actor may register here, wake this target, and see the process that would be the answer. */
function deny(
  edges: Edges,
  { request: { wakeTarget }, actor }: RegisterIntent,
  { parent, existing, running }: RegisterFacts,
  owner: Owner,
): Refusal | undefined {
  const registration = { type: 'registration', owner, parent: parent?.record ?? null } as const
  const denied = edges.authorize(actor, 'execute', registration)
  if (denied !== undefined) return denied
  if (wakeTarget !== undefined && wakeTarget !== owner.session) {
    const unwakeable = edges.authorize(actor, 'write', { type: 'session', id: wakeTarget })
    if (unwakeable !== undefined) return unwakeable
  }
  const answer = existing ?? running
  if (answer === null) return undefined
  return edges.authorize(actor, 'read', { type: 'process', record: answer.record })
}
