import { didYouMean } from '../../base/nearest-name.ts'
import type { OutputOf } from '../../verbs/reeve.ts'
import type { Context } from '../context.ts'
import { refuseInside } from '../refuse-inside.ts'
import { subcommand } from '../subcommand.ts'
import { UsageError } from '../usage-error.ts'

const ACTIONS = ['list', 'add', 'remove']

export const policy = subcommand({
  name: 'policy',
  summary: 'Sets rules for agents: what they may do, may not do, or must ask you for',
  usage: [
    'policy [list]',
    'policy add <allow|ask|deny> <resource> [options]',
    'policy remove <rule>… [--session <id>]',
  ],
  completes: ACTIONS,
  options: {
    args: { type: 'texts', value: 'argument', about: 'the first arguments of the program, one each time' },
    because: { type: 'text', value: 'text', about: 'why, for the person who is asked and for the agent' },
    session: { type: 'text', value: 'id', about: 'for this session alone' },
    match: { type: 'texts', value: 'line', about: 'an example that the rule must match' },
    nonmatch: { type: 'texts', value: 'line', about: 'an example that the rule must not match' },
  },
  about:
    'Rules bind sessions and processes of agents, and never your own `reeve run`. The strictest one wins: deny, ask, allow. An ask or a deny leaves everything else as it was; an allow closes the set, so that what nothing allows is denied.',
  examples: [
    ['reeve policy add ask shell:git --args push', 'ask before git push, however it is written'],
    ['reeve policy add deny shell:rm --because "use trash-put"', ''],
    ['reeve policy remove r1', ''],
  ],
  async run(context) {
    const { args, print } = context
    const [action = 'list', ...rest] = args
    if (!ACTIONS.includes(action))
      throw new UsageError(
        `reeve policy does not know ${action}.${didYouMean(action, ACTIONS)}`,
        `It knows ${ACTIONS.join(', ')}.`,
      )
    const reeve = await context.acting()
    if (action === 'list') {
      const { rules } = await reeve.policies({})
      if (print.isJson) print.jsonList(rules)
      else printTable(context, rules)
      return 0
    }
    refuseInside(context, `reeve policy ${action}`)
    const changed =
      action === 'add' ? [await reeve.addRule(additionOf(context, rest))] : await removed(context, rest)
    if (print.isJson) print.jsonList(changed)
    else for (const rule of changed) print.line(`${action === 'add' ? 'Added' : 'Removed'} ${lineOf(rule)}`)
    return 0
  },
})

interface Options {
  readonly args: readonly string[]
  readonly because: string | undefined
  readonly session: string | undefined
  readonly match: readonly string[]
  readonly nonmatch: readonly string[]
}

type Shown = OutputOf<'addRule'>

function additionOf({ options }: Context<Options>, rest: readonly string[]) {
  const [effect, resource, ...more] = rest
  if (effect === undefined || resource === undefined || more.length > 0)
    throw new UsageError(
      'reeve policy add needs an effect and a resource.',
      'For example: reeve policy add ask shell:git --args push',
    )
  const { args, because, match, nonmatch } = options
  const rule = {
    effect,
    resource,
    ...(args.length === 0 ? {} : { constraints: { args } }),
    ...(because === undefined ? {} : { justification: because }),
    ...(match.length === 0 ? {} : { match }),
    ...(nonmatch.length === 0 ? {} : { nonmatch }),
  }
  return { rule, to: subjectOf(options) }
}

async function removed(context: Context<Options>, ids: readonly string[]): Promise<Shown[]> {
  if (ids.length === 0)
    throw new UsageError('reeve policy remove needs the id of a rule.', 'reeve policy lists them.')
  const reeve = await context.acting()
  const gone: Shown[] = []
  for (const id of ids) gone.push(await reeve.removeRule({ id, from: subjectOf(context.options) }))
  return gone
}

function subjectOf({ session }: Options) {
  return session === undefined ? ({ type: 'home' } as const) : ({ type: 'session', session } as const)
}

function lineOf({ subject, id, text }: Shown): string {
  return `${id} of ${subject}: ${text}`
}

function printTable({ print }: Pick<Context<object>, 'print'>, rules: readonly Shown[]): void {
  if (rules.length === 0) {
    print.line('There are no rules: agents do what their sessions may do.')
    return
  }
  const { blue, dim } = print.colours
  print.table(
    [{ title: 'ID' }, { title: 'FOR' }, { title: 'RULE', flexible: true }],
    rules.map(({ subject, id, text }) => [
      { text: id, paint: blue },
      { text: subject, paint: dim },
      { text },
    ]),
  )
}
