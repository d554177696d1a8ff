import type { Action } from '../capability/action.ts'
import { lastSegmentOf } from '../capability/covers.ts'
import type { Need } from '../capability/need.ts'
import type { AnalysedShell } from '../capability/needs.ts'
import type { Rule, RuleLink } from '../capability/rule.ts'
import { matchOf, tableOf } from '../capability/rule-table.ts'
import type { ApprovalGrant } from './approval.ts'
import { runsScripts } from './script-runners.ts'

/** The hashes of an action, one for each grant that remembers its answer. */
export interface ActionHashes {
  readonly process: string | null
  readonly session: string | null
  readonly always: string
}

/** The grants that may be given to a request, and the rules that they store. */
export interface OfferedGrants {
  readonly grants: readonly ApprovalGrant[]
  readonly grantRules: { readonly process: readonly Rule[]; readonly session: readonly Rule[] }
  readonly alwaysRule: Rule | null
}

export interface GrantFacts {
  readonly needs: readonly Need[]
  readonly action: Action
  /** Of a command. */
  readonly shell: AnalysedShell | null
  /** The rules that ask. */
  readonly settles: readonly RuleLink[]
  readonly hashes: ActionHashes
  readonly at: number
}

/**
 * The grants that a request offers. Each rule covers one effect of the action, only as a part of this exact action, and answers only
 * the rules that asked: a rule that is added later asks again, and a deny still wins.
 */
export function offeredGrants(facts: GrantFacts): OfferedGrants {
  const { hashes, action } = facts
  // No host has resolved the command: which action it is cannot be told from another one.
  if (action.act.type === 'command' && (!action.environmentHash || hasOpenInput(action.act))) return ONCE
  const process = hashes.process === null ? [] : rulesFor(facts, hashes.process)
  const session = hashes.session === null ? [] : rulesFor(facts, hashes.session)
  const alwaysRule = alwaysRuleOf(facts)
  const grants: readonly ApprovalGrant[] = [
    'once',
    ...(process.length === 0 ? [] : (['process'] as const)),
    ...(session.length === 0 ? [] : (['session'] as const)),
    ...(alwaysRule === null ? [] : (['always'] as const)),
  ]
  return { grants, grantRules: { process, session }, alwaysRule }
}

/** Where no answer is remembered. */
export const ONCE: OfferedGrants = {
  grants: ['once'],
  grantRules: { process: [], session: [] },
  alwaysRule: null,
}

/** Later input is a part of the action, and no answer covers it. */
function hasOpenInput({ stdin, pty }: Extract<Action['act'], { type: 'command' }>): boolean {
  return stdin === 'pipe' || pty === true
}

/** Each effect is a rule that later checks look at. A longer command line is asked about each time. */
const MAX_EFFECTS = 20

/** One rule for each effect; none if an effect cannot be covered. */
function rulesFor(facts: GrantFacts, hash: string): readonly Rule[] {
  if (facts.needs.length > MAX_EFFECTS) return []
  const rules = facts.needs.map((need, index) =>
    ruleFor(facts, need, { hash, id: `g-${hash.slice(0, 16)}-${index + 1}` }),
  )
  return rules.every((rule) => rule !== undefined) ? rules : []
}

interface Making {
  readonly id: string
  readonly hash: string
}

/** The first resource that covers the need. The widest cover nothing more: the rule is about one action. */
function ruleFor(facts: GrantFacts, need: Need, { id, hash }: Making): Rule | undefined {
  return resourcesOf(need)
    .map((resource) => ruleOf(facts, need, { id, hash, resource }))
    .find((rule) => isCovered(rule, need, facts.at))
}

function ruleOf(
  { settles, action }: GrantFacts,
  need: Need,
  { id, hash, resource }: Making & { readonly resource: string },
): Rule {
  const args = resource === WHOLE_SHELL || need.resource.kind !== 'shell' ? null : literalArgs(need)
  return {
    id,
    effect: 'allow',
    rights: [need.right],
    resource,
    constraints: { ...(args === null ? {} : { args }), action: hash },
    justification: action.cwd === null ? 'A person approved it.' : `A person approved it in ${action.cwd}.`,
    settles,
  }
}

const WHOLE_SHELL = 'shell:sh'

function resourcesOf({ resource }: Need): readonly string[] {
  switch (resource.kind) {
    case 'shell': {
      const { name, path, real } = resource.program
      return [
        ...(path === undefined ? [`shell:${name}`] : fileResources(path)),
        ...fileResources(real),
        WHOLE_SHELL,
      ]
    }
    case 'fs':
      return [...(resource.path === null ? [] : [`fs:${resource.path}`]), 'fs:/**']
    case 'net':
      return [`net:${resource.host}`, 'net:**']
    case 'process':
      return [`process:${resource.pid}`]
    default:
      return [`${resource.kind}:${resource.path}`, `${resource.kind}:**`]
  }
}

function fileResources(path: string | undefined): readonly string[] {
  if (path === undefined) return []
  return [`shell:${path.includes('/') ? path : `./${path}`}`]
}

/** As many as a constraint may have; the hash covers them all. */
const MAX_ARGS = 64

function literalArgs({ attributes: { args, unknownOption } }: Need): readonly string[] | null {
  if (args === undefined || args.length === 0 || unknownOption === true) return null
  const literal = args.filter((arg) => arg !== null)
  return literal.length === args.length ? literal.slice(0, MAX_ARGS) : null
}

function isCovered(rule: Rule, need: Need, at: number): boolean {
  const compiled = tableOf([rule]).byId.get(rule.id)
  const hashes = rule.constraints?.action === undefined ? [] : [rule.constraints.action]
  const known = { ...need, attributes: { ...need.attributes, actions: hashes } }
  return compiled !== undefined && matchOf(compiled, known, { at, host: null }) === 'yes'
}

/** Programs that mean little without a subcommand. */
const SUBCOMMANDS: ReadonlySet<string> = new Set(
  `git docker podman kubectl helm gh aws gcloud az systemctl apt apt-get brew dnf rustup`.split(/\s+/),
)

/** Subcommands that name another one: two words say what runs. */
const TWO_WORDS: ReadonlySet<string> = new Set([
  ...['docker run', 'docker exec', 'docker container', 'docker image', 'docker volume'],
  ...['git stash', 'git remote', 'git worktree', 'git config'],
  ...['gh pr', 'gh repo', 'gh issue', 'gh release', 'gh api', 'kubectl delete', 'kubectl exec'],
])

/**
 * The rule for every time, only where it says all that the action does: one program with literal arguments. Not for
 * compound, wrapped or opaque commands, such as an interpreter, nor for commands that run scripts of the project: the text does not
 * show what would run. The rule names the program's file.
 */
function alwaysRuleOf(facts: GrantFacts): Rule | null {
  const [need, ...others] = facts.needs
  if (need === undefined || others.length > 0 || !saysAll(facts, need)) return null
  const making = { id: `always-${facts.hashes.always.slice(0, 16)}`, hash: facts.hashes.always }
  return (
    preciseResources(need)
      .map((resource) => ruleOf(facts, need, { ...making, resource }))
      .find((rule) => isCovered(rule, need, facts.at)) ?? null
  )
}

function saysAll({ action, shell }: GrantFacts, { resource, attributes }: Need): boolean {
  if (action.act.type !== 'command') return resource.kind === action.act.type
  if (resource.kind !== 'shell' || shell?.type !== 'commands' || shell.commands.length !== 1) return false
  const { args = [], opaque, transparent, unknownOption, env = [] } = attributes
  const isPlain = opaque === undefined && transparent !== true && unknownOption !== true && env.length === 0
  if (!isPlain || args.includes(null) || action.act.stdin !== 'null') return false
  const { name, real } = resource.program
  if (real === undefined || [name, lastSegmentOf(real)].some((one) => runsScripts(one, args))) return false
  const needed = TWO_WORDS.has(`${name} ${args[0] ?? ''}`) ? 2 : Number(SUBCOMMANDS.has(name))
  return args.length >= needed
}

function preciseResources({ resource }: Need): readonly string[] {
  if (resource.kind === 'shell') return fileResources(resource.program.real)
  return 'path' in resource && resource.path !== null ? [`${resource.kind}:${resource.path}`] : []
}
