import { didYouMean } from '../../base/nearest-name.ts'
import { ReeveError } from '../../core/errors.ts'
import type { ReeveVerbs } from '../../verbs/reeve.ts'
import type { Context } from '../context.ts'
import type { Options } from '../options.ts'
import { explain } from '../policy/explain.ts'
import { forget, lookAtPolicyFile, test, trust, untrust } from '../policy/files.ts'
import { lineOf, printPolicies, type ShownRule } from '../policy/print.ts'
import { RULE_OPTIONS, ruleOf } from '../policy/rule-options.ts'
import {
  holderOf,
  type RuleSubject,
  receiverOf,
  SUBJECT_OPTIONS,
  subjectOf,
  subjectText,
} from '../policy/subjects.ts'
import { quoted } from '../print/status.ts'
import { refuseInside } from '../refuse-inside.ts'
import { subcommand } from '../subcommand.ts'
import { UsageError } from '../usage-error.ts'

const OPTIONS = {
  ...SUBJECT_OPTIONS,
  ...RULE_OPTIONS,
  to: { type: 'text', value: 'subject', about: 'delegate, revoke: session:<id> or process:<pid>' },
  cwd: { type: 'text', value: 'folder', about: 'explain: the folder of the command' },
  file: { type: 'text', value: 'path', about: 'test: the policy file' },
  hash: { type: 'text', value: 'hash', about: 'trust: the version that you have looked at' },
  yes: { type: 'flag', short: 'y', about: 'trust: without reading it first' },
} as const

type PolicyContext = Context<Options<typeof OPTIONS>>
type Act = (context: PolicyContext, args: readonly string[]) => Promise<number>

const ACTS: Readonly<Record<string, Act>> = {
  list,
  add: changing('add', 'Added', add),
  remove: changing('remove', 'Removed', remove),
  preset,
  clear,
  delegate: changing('delegate', 'Delegated', delegate),
  revoke: changing('revoke', 'Revoked', revoke),
  explain,
  test,
  trust,
  untrust,
  forget,
}

const ACTIONS = Object.keys(ACTS)

export const policy = subcommand({
  name: 'policy',
  summary: 'Sets rules for agents: what they may do, may not do, or must ask you for',
  usage: [
    'policy [list]',
    'policy add <allow|ask|deny> <resource> [options]',
    'policy remove <rule>… [--session <id> | --process <pid> | --workspace <folder>]',
    'policy preset <observe|ask|edit|full|none> [--session <id> | --workspace <folder>]',
    'policy clear [--session <id> | --process <pid> | --workspace <folder>]',
    'policy explain <command line | resource> [--session <id>] [--cwd <folder>]',
    'policy test [folder] [--file <path>]',
    'policy trust [folder] [--hash <hash>], policy untrust [folder], policy forget [folder]',
    'policy delegate <resource> --session <id> --to <subject> [options]',
    'policy revoke <rule> --to <subject>',
  ],
  completes: ACTIONS,
  options: OPTIONS,
  about:
    'Rules bind sessions and processes of agents, and never your own `reeve run`. The strictest one wins: deny, ask, allow. An ask or a deny leaves everything else as it was; an allow closes the set, so that what nothing allows is denied. The file .reeve/policy.json of a workspace has rules, too: its asks and denies count at once, and what it allows counts when you trust it.',
  examples: [
    ['reeve policy add ask shell:git --args push', 'ask before git push, however it is written'],
    ['reeve policy add deny shell:rm --because "use trash-put"', ''],
    ["reeve policy explain 'git push'", 'which rule decides, and why'],
    ['reeve policy preset edit --workspace .', 'agents in this folder edit files, and ask for the rest'],
    ['reeve policy remove r1', ''],
  ],
  async run(context) {
    const [action = 'list', ...rest] = context.args
    const act = Object.hasOwn(ACTS, action) ? ACTS[action] : undefined
    if (act === undefined)
      throw new UsageError(
        `reeve policy does not know ${action}.${didYouMean(action, ACTIONS)}`,
        `It knows ${ACTIONS.join(', ')}.`,
      )
    return act(context, rest)
  },
})

async function list(context: PolicyContext): Promise<number> {
  const reeve = await context.acting()
  await lookAtPolicyFile(context, reeve)
  const found = await reeve.policies({})
  if (context.print.isJson) context.print.jsonList(found.rules)
  else printPolicies(context, found)
  return 0
}

/** An action that changes rules, and prints each that it changed. */
function changing(
  name: string,
  past: string,
  change: (context: PolicyContext, args: readonly string[]) => Promise<readonly ShownRule[]>,
): Act {
  return async (context, args) => {
    refuseInside(context, `reeve policy ${name}`)
    const changed = await change(context, args)
    const { print } = context
    if (print.isJson) print.jsonList(changed)
    else for (const rule of changed) print.line(`${past} ${lineOf(rule)}`)
    return 0
  }
}

async function add(context: PolicyContext, args: readonly string[]): Promise<readonly ShownRule[]> {
  const [effect, resource, ...more] = args
  if (effect === undefined || resource === undefined || more.length > 0)
    throw new UsageError(
      'reeve policy add needs an effect and a resource.',
      'For example: reeve policy add ask shell:git --args push',
    )
  const to = await subjectOf(context)
  const rule = ruleOf(effect, resource, context.options, Date.now())
  return [await (await context.acting()).addRule({ rule, to })]
}

async function remove(context: PolicyContext, ids: readonly string[]): Promise<readonly ShownRule[]> {
  if (ids.length === 0)
    throw new UsageError('reeve policy remove needs the id of a rule.', 'reeve policy lists them.')
  const from = await subjectOf(context)
  const reeve = await context.acting()
  // One unknown id among several removes none of them.
  const isKnown = ids.length === 1 ? () => true : await rulesOf(reeve, from)
  const unknown = ids.find((id) => !isKnown(id))
  const gone: ShownRule[] = []
  for (const id of unknown === undefined ? new Set(ids) : [unknown])
    try {
      const { alsoRemoved, ...rule } = await reeve.removeRule({ id, from })
      gone.push(rule, ...alsoRemoved)
    } catch (error) {
      if (!(error instanceof ReeveError) || error.code !== 'not_found') throw error
      throw new ReeveError(error.code, error.message, await whereRuleIs(reeve, id), { cause: error })
    }
  return gone
}

/** Whether the subject has a rule with an id. The daemon alone knows the canonical path of a folder: any folder will do. */
async function rulesOf(reeve: ReeveVerbs, from: RuleSubject): Promise<(id: string) => boolean> {
  const { rules } = await reeve.policies({})
  const isOf = (subject: string) =>
    from.type === 'workspace' ? subject.startsWith('workspace:') : subject === subjectText(from)
  const known = new Set(rules.filter(({ subject }) => isOf(subject)).map(({ id }) => id))
  return (id) => known.has(id)
}

/** Ids are unique within one set, so that a rule of another set must be named with it. */
async function whereRuleIs(reeve: ReeveVerbs, id: string): Promise<string> {
  const places = (await reeve.policies({})).rules
    .filter((rule) => rule.id === id)
    .map(({ subject }) => /^(session|process|workspace(?=:\/)):(.+)$/s.exec(subject))
    .filter((found) => found !== null)
    .map(([, type, name]) => `reeve policy remove ${id} --${type} ${quoted(name ?? '')}`)
  return places.length === 0 ? 'reeve policy lists them.' : `To remove it, run ${places.join(', or ')}`
}

async function preset(context: PolicyContext, args: readonly string[]): Promise<number> {
  refuseInside(context, 'reeve policy preset')
  const [name, ...more] = args
  if (name === undefined || more.length > 0)
    throw new UsageError(
      'reeve policy preset needs the name of a preset.',
      'It is observe, ask, edit or full; none removes it.',
    )
  const to = await subjectOf(context)
  const set = await (await context.acting()).setPreset({ to, preset: name === 'none' ? null : name })
  const { print } = context
  if (print.isJson) print.json(set)
  else
    print.line(
      name === 'none' ? `Removed the preset of ${set.subject}` : `${set.subject} has the preset ${name}`,
    )
  return 0
}

async function clear(context: PolicyContext): Promise<number> {
  refuseInside(context, 'reeve policy clear')
  const from = await subjectOf(context)
  const cleared = await (await context.acting()).clearRules({ from })
  const { print } = context
  if (print.isJson) print.json(cleared)
  else
    print.line(
      `Removed ${cleared.removed === 1 ? '1 rule' : `all ${cleared.removed} rules`} of ${cleared.subject}`,
    )
  return 0
}

async function delegate(context: PolicyContext, args: readonly string[]): Promise<readonly ShownRule[]> {
  const [resource, ...more] = args
  if (resource === undefined || more.length > 0)
    throw new UsageError(
      'reeve policy delegate needs a resource.',
      'For example: reeve policy delegate shell:git --session s1 --to process:p_7k3m9q2x4t8v',
    )
  const from = await holderOf(context)
  const to = await receiverOf(context, context.options.to)
  const rule = ruleOf('allow', resource, context.options, Date.now())
  const reeve = await context.acting()
  return [await reeve.delegateRule({ rule, to, ...(from === undefined ? {} : { from }) })]
}

async function revoke(context: PolicyContext, ids: readonly string[]): Promise<readonly ShownRule[]> {
  const [id, ...more] = ids
  if (id === undefined || more.length > 0)
    throw new UsageError('reeve policy revoke needs the id of a rule.', 'reeve policy lists them.')
  const to = await receiverOf(context, context.options.to)
  return [await (await context.acting()).revokeDelegated({ id, to })]
}
