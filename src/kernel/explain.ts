import { fileSubject, foldersAbove } from '../core/capability/in-workspace.ts'
import { type Need, needText } from '../core/capability/need.ts'
import type { Rule } from '../core/capability/rule.ts'
import { type RulingFacts, ruleOn, ruleOnAll } from '../core/capability/rule-on.ts'
import { type RuleSet, setsIn } from '../core/capability/rule-set.ts'
import { matching, tableOf } from '../core/capability/rule-table.ts'
import { ALLOWED, type RuleRef, type Ruling, refOf } from '../core/capability/ruling.ts'
import type { Actor, ProcessRecord } from '../core/process/record.ts'
import { decideRegister, type RegisterIntent } from '../core/process/register.ts'
import { environmentOf } from '../core/process/registration-defaults.ts'
import type { RegistrationRequest } from '../core/process/registration-request.ts'
import { isRefusal, type Refusal } from '../core/refusal.ts'
import type { Edges } from './edges.ts'
import { HostLooks } from './host-looks.ts'
import type { PlanPart } from './plan-part.ts'
import { loadPolicyFile, policyInvalid } from './policy-files.ts'
import { toIntent } from './register.ts'
import { registerFacts } from './register-facts.ts'
import type { RegisterHereOptions } from './register-here.ts'
import { folded, type HostFacts } from './register-one.ts'
import { ruleSetsOf, rulingFacts, subjectOf, withFolders } from './rule-facts.ts'
import { type Ruled, type RulingAnswer, ruleOnRegistration } from './rule-on-registration.ts'
import { WorkingRows } from './working-rows.ts'
import type { FolderPolicies } from './workspaces.ts'

/** What the rules say about something that nobody does: nothing is registered, asked for or used up. */
export interface Explanation {
  readonly ruling: Ruling
  readonly needs: readonly ExplainedNeed[]
  /** The sets that were asked, the widest first. */
  readonly sets: readonly RuleSet[]
}

interface ExplainedNeed {
  readonly text: string
  /** Why what it does cannot be known. */
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
  { actor, cwd }: Explaining,
): Promise<Explanation | Refusal> {
  const id = actor.startsWith('session:') ? actor.slice('session:'.length) : null
  const session = id === null ? null : await edges.store.ask({ ask: 'session', id })
  const asked = [...(session?.workspaces ?? []), ...(cwd === null ? [] : [cwd])]
  const places = (await edges.workspaces?.placesOf(asked)) ?? new Map<string, FolderPolicies>()
  const found = [...places.values()]
  for (const file of found.flatMap(({ files }) => files)) {
    if (file.problems.length > 0) {
      const subject = fileSubject(file.folder)
      if ((await edges.store.ask({ ask: 'ruleSet', subject })) === null) return policyInvalid(file)
      continue
    }
    const loaded = await loadPolicyFile(edges, file)
    if (isRefusal(loaded)) return loaded
  }
  const folders = [...new Set(found.flatMap(({ folder }) => foldersAbove(folder)))]
  const placed = inFolder(need, found[0]?.folder)
  return edges.store.write<Explanation>(function* () {
    const rows = new WorkingRows()
    const subject = yield* subjectOf(rows, actor, null)
    if (subject === null) return { answer: UNBOUND, changes: [] }
    const sets = (yield* ruleSetsOf(withFolders(subject, folders))).flatMap(setsIn)
    const facts = yield* rulingFacts(rows, sets, [], [placed], { at: edges.clock.now(), host: null })
    const ruling = ruleOnAll(sets, [], [placed], facts)
    const explained = { sets, ceilings: [], needs: [placed], facts, ruling }
    return { answer: explanationOf(explained), changes: [] }
  })
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
    sets,
    needs: needs.map((need) => explainNeed(sets, need, facts, ruleOn(sets, ceilings, need, facts))),
  }
}

/** A file that is named without a folder is one of the workspace. */
function inFolder(need: Need, workspace: string | undefined): Need {
  const { resource } = need
  if (resource.kind !== 'fs' || workspace === undefined) return need
  return { ...need, resource: { ...resource, workspace } }
}

const UNBOUND: Explanation = { ruling: ALLOWED, needs: [], sets: [] }

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
