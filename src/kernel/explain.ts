import type { Ceiling } from '../core/capability/ceiling.ts'
import { doubtOf } from '../core/capability/doubt.ts'
import { type Need, needText } from '../core/capability/need.ts'
import type { Rule } from '../core/capability/rule.ts'
import { ruleOn, ruleOnAll } from '../core/capability/rule-on.ts'
import type { RuleSet } from '../core/capability/rule-set.ts'
import { matching, tableOf } from '../core/capability/rule-table.ts'
import { ALLOWED, type RuleRef, type Ruling, refOf } from '../core/capability/ruling.ts'
import type { RulingFacts } from '../core/capability/ruling-of-set.ts'
import type { Actor, ProcessRecord } from '../core/process/record.ts'
import { decideRegister, type RegisterIntent } from '../core/process/register.ts'
import { environmentOf } from '../core/process/registration-defaults.ts'
import type { RegistrationRequest } from '../core/process/registration-request.ts'
import { isRefusal, type Refusal } from '../core/refusal.ts'
import type { Edges } from './edges.ts'
import { HostLooks } from './host-looks.ts'
import { setsAt } from './placed-registration.ts'
import type { PlanPart } from './plan-part.ts'
import { policyInvalid } from './policy-files.ts'
import { toIntent } from './register.ts'
import { registerFacts } from './register-facts.ts'
import type { RegisterHereOptions } from './register-here.ts'
import { folded, type HostFacts } from './register-one.ts'
import { ceilingsOfActor, rulingFacts, subjectOf } from './rule-facts.ts'
import {
  type MissingPlace,
  type Ruled,
  type RulingAnswer,
  ruleOnRegistration,
} from './rule-on-registration.ts'
import { WorkingRows } from './working-rows.ts'

/** What the rules say about an act without performing it: nothing is registered, asked for or used up. */
export interface Explanation {
  readonly ruling: Ruling
  /** Of an ask: why it is not certain that its rule is about the act; null if it certainly is. */
  readonly doubt: string | null
  readonly needs: readonly ExplainedNeed[]
  /** The sets that were asked, the widest first. */
  readonly sets: readonly RuleSet[]
  /** The ceilings that were asked as well. */
  readonly ceilings: readonly Ceiling[]
  readonly facts: RulingFacts
}

interface ExplainedNeed {
  readonly text: string
  /** Why its effects cannot be known. */
  readonly opaque: string | null
  readonly ruling: Ruling
  /** All rules that are about it, in the order of the sets. */
  readonly rules: readonly (RuleRef & {
    readonly effect: Rule['effect']
    readonly match: 'yes' | 'unknown'
  })[]
}

/** The actor whose rules are explained, and where it acts. */
export interface Explaining {
  readonly actor: Actor
  readonly cwd: string | null
  /** Null: on any host. */
  readonly host?: string | null
}

/** Explains the rules about a process that could be registered. */
export async function explainRegistration(
  edges: Edges,
  request: RegistrationRequest,
  { actor }: Pick<Explaining, 'actor'>,
  { here, defaultEnvRef, resolve }: Pick<RegisterHereOptions, 'here' | 'defaultEnvRef' | 'resolve'>,
): Promise<Explanation | Refusal> {
  const { intent } = toIntent(
    edges,
    { request, actor: 'host', here },
    undefined,
    defaultEnvRef,
    edges.clock.now(),
  )
  const host = new HostLooks(edges, resolve, MAX_LOOKS)
  for (;;) {
    const answer = await edges.store.write<Evaluated | Refusal>(function* () {
      return { answer: yield* evaluated(edges, intent, actor, host.facts), changes: [] }
    })
    if (isRefusal(answer)) return answer
    const { record, ruling } = answer
    switch (ruling.type) {
      case 'unbound':
        return UNBOUND
      case 'invalid':
        return policyInvalid(ruling.file)
      case 'missing': {
        const refused = await host.look({ unresolved: record, missing: ruling.missing })
        if (refused !== undefined) return refused
        break
      }
      case 'ruled':
        return explanationOf(ruling.ruled)
    }
  }
}

/** Explains the rules about one effect. */
export async function explainEffect(
  edges: Edges,
  need: Need,
  explaining: Explaining,
): Promise<Explanation | Refusal> {
  const host = new HostLooks(edges, async () => null, MAX_LOOKS)
  for (;;) {
    const answer = await edges.store.write<Explanation | Refusal | { readonly missing: MissingPlace }>(
      function* () {
        return { answer: yield* explainedEffect(edges, need, explaining, host.facts), changes: [] }
      },
    )
    if (isRefusal(answer) || !('missing' in answer)) return answer
    const refused = await host.lookAround(answer.missing)
    if (refused !== undefined) return refused
  }
}

function* explainedEffect(
  edges: Edges,
  need: Need,
  { actor, cwd, host = null }: Explaining,
  { places, looksLeft }: HostFacts,
): PlanPart<Explanation | Refusal | { readonly missing: MissingPlace }> {
  const rows = new WorkingRows()
  const subject = yield* subjectOf(rows, actor)
  if (subject === null) return UNBOUND
  const registration = cwd === null ? ({ kind: 'tool', cwd } as const) : ({ kind: 'command', cwd } as const)
  const bound = yield* setsAt(edges, rows, { registration, session: null, places, looksLeft }, subject, true)
  if (bound.type === 'missing') return bound
  if (bound.type === 'invalid') return policyInvalid(bound.file)
  const { sets, workspace } = bound
  const folder = workspace ?? (cwd === null ? undefined : (places?.get(cwd)?.folder ?? cwd))
  const placed = inFolder(need, folder)
  const ceilings = yield* ceilingsOfActor(rows, actor)
  const facts = yield* rulingFacts(rows, sets, ceilings, [placed], { at: edges.clock.now(), host })
  const ruling = ruleOnAll(sets, ceilings, [placed], facts)
  return explanationOf({ sets, ceilings, needs: [placed], facts, ruling })
}

const MAX_LOOKS = 8

interface Evaluated {
  readonly record: ProcessRecord
  readonly ruling: RulingAnswer
}

/** What the gate would say to a registration. */
function* evaluated(
  edges: Edges,
  intent: RegisterIntent,
  actor: Actor,
  { resolved, places, looksLeft }: HostFacts,
): PlanPart<Evaluated | Refusal> {
  const rows = new WorkingRows()
  rows.assumeAbsent(intent.pid)
  const context = { isNew: true, formerPid: undefined, restarts: undefined, replaced: [] }
  const facts = yield* registerFacts(rows, intent, context)
  const decision = decideRegister(facts, intent, edges.rules)
  if (decision.type === 'refuse') return decision.refusal
  if (decision.type !== 'register') throw new Error(`A new pid, ${intent.pid}, is registered already`)
  const { record } = folded(decision, intent, facts).row
  const ruling = yield* ruleOnRegistration(edges, rows, {
    registration: decision.registration,
    actor,
    at: intent.at,
    here: intent.here,
    resolved: resolved.get(intent.pid)?.action ?? null,
    envRef: environmentOf(intent.request),
    isEnvironmentNamed: intent.request.envRef !== undefined,
    session: facts.session,
    places,
    looksLeft,
  })
  return { record, ruling }
}

function explanationOf({
  sets,
  ceilings,
  needs,
  facts,
  ruling,
}: Pick<Ruled, 'sets' | 'ceilings' | 'needs' | 'ruling'> & {
  readonly facts: RulingFacts
}): Explanation {
  return {
    ruling,
    doubt: ruling.type === 'ask' ? doubtOf(ruling.rule, { sets, ceilings, needs, facts }) : null,
    sets,
    ceilings,
    facts,
    needs: needs.map((need) => explainNeed(sets, need, facts, ruleOn(sets, ceilings, need, facts))),
  }
}

/** A file that is named without a folder is one of the workspace. */
function inFolder(need: Need, workspace: string | undefined): Need {
  const { resource } = need
  if (resource.kind !== 'fs' || resource.workspace !== undefined || workspace === undefined) return need
  return { ...need, resource: { ...resource, workspace } }
}

const NO_FACTS: RulingFacts = { at: 0, host: null, delegators: new Map(), used: new Map() }
const UNBOUND: Explanation = {
  ruling: ALLOWED,
  doubt: null,
  needs: [],
  sets: [],
  ceilings: [],
  facts: NO_FACTS,
}

function explainNeed(
  sets: readonly RuleSet[],
  need: Need,
  facts: RulingFacts,
  ruling: Ruling,
): ExplainedNeed {
  const rules = sets.flatMap(({ subject, rules: own }) =>
    matching(tableOf(own), need, facts).map(({ rule, match }) => ({
      ...refOf(subject, rule),
      effect: rule.effect,
      match,
    })),
  )
  return { text: needText(need), opaque: need.attributes.opaque ?? null, ruling, rules }
}
