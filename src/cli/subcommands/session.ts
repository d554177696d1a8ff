import { didYouMean } from '../../base/nearest-name.ts'
import { ReeveError } from '../../core/errors.ts'
import type { OutputOf, ReeveVerbs } from '../../verbs/reeve.ts'
import { ALLOW, allowanceIn } from '../allow.ts'
import type { Context } from '../context.ts'
import { usedText } from '../print/budget.ts'
import { ago } from '../print/times.ts'
import { subcommand } from '../subcommand.ts'
import { UsageError } from '../usage-error.ts'

const ACTIONS = ['open', 'list', 'end', 'delete']
const PAGE = 1_000

export const session = subcommand({
  name: 'session',
  summary: 'Opens, lists, ends and deletes sessions',
  usage: [
    'session open <id> [--label <text>] [--parent <id>] [--preset <name>] [--allow <name>=<amount>]…',
    'session list',
    'session end <id>…',
    'session delete <id>…',
  ],
  completes: ACTIONS,
  options: {
    label: { type: 'text', short: 'l', value: 'text', about: 'a description' },
    parent: { type: 'text', value: 'id', about: 'the session above it' },
    preset: {
      type: 'text',
      value: 'name',
      about: 'the rules that it begins with: observe, ask, edit or full',
    },
    allow: { ...ALLOW, about: 'an allowance for all its processes together, like cost=5' },
    all: { type: 'flag', short: 'a', about: 'list ended sessions, too' },
  },
  about:
    'Ending a session stops the processes whose lifetime is the session (run --session); deleting it removes its grants and notices. Both include the sessions below it.',
  examples: [
    ['reeve session open s1', ''],
    ['reeve run -d --session s1 -- npm run dev', 'a command that ends with the session'],
    ['reeve session open s1-review --parent s1', 'a session that ends with s1'],
    ['reeve session open s1-docs --preset ask', 'a session that reads, and asks you for everything else'],
    ['reeve session end s1', ''],
  ],
  async run(context) {
    const { args, print } = context
    const [action = 'list', ...ids] = args
    if (!ACTIONS.includes(action))
      throw new UsageError(
        `reeve session does not know ${action}.${didYouMean(action, ACTIONS)}`,
        `It knows ${ACTIONS.join(', ')}.`,
      )
    const reeve = await context.acting()
    if (action === 'list') return list(context, reeve)
    if (ids.length === 0)
      throw new UsageError(`reeve session ${action} needs the id of a session.`, 'For example: s1')
    const answers: unknown[] = []
    for (const id of ids) {
      const { label, allow, parent, preset } = context.options
      const answer =
        action === 'open'
          ? await reeve.openSession({
              session: id,
              ...(label === undefined ? {} : { label }),
              ...(parent === undefined ? {} : { parentSession: parent }),
              ...(preset === undefined ? {} : { preset }),
              ...allowanceIn(allow),
            })
          : action === 'end'
            ? await reeve.endSession({ session: id })
            : await reeve.deleteSession({ session: id })
      answers.push(answer)
      if (!print.isJson) print.line(id)
    }
    if (print.isJson) print.jsonList(answers)
    return 0
  },
})

async function list(
  { print, options }: Context<{ readonly all: boolean }>,
  reeve: ReeveVerbs,
): Promise<number> {
  const all = await allSessions(reeve)
  const listed = all.filter(({ endedAt }) => options.all || endedAt === null)
  const found: Listed[] = []
  for (const one of listed) {
    const budget = await budgetOf(reeve, one.id)
    if (budget !== undefined) found.push({ ...one, budget })
  }
  if (print.isJson) print.jsonList(found)
  else {
    const now = Date.now()
    const { blue, dim } = print.colours
    const withBudget = found.some(({ budget }) => usedText(budget) !== '')
    print.table(
      [
        { title: 'ID' },
        { title: 'OPENED' },
        { title: 'USED' },
        { title: 'ENDED' },
        ...(withBudget ? [{ title: 'BUDGET', shrinks: true as const }] : []),
        { title: 'LABEL', flexible: true },
      ],
      inTree(found).map(({ branch, session: { id, openedAt, touchedAt, endedAt, label, budget } }) => [
        { text: `${branch}${id}`, paint: blue },
        { text: ago(openedAt, now), paint: dim },
        { text: ago(touchedAt, now), paint: dim },
        { text: endedAt === null ? '' : ago(endedAt, now), paint: dim },
        ...(withBudget ? [{ text: usedText(budget) }] : []),
        { text: label ?? '' },
      ]),
    )
  }
  return 0
}

/** Each session after the one above it, with the lines of the tree before its name. */
function inTree(
  sessions: readonly Listed[],
): readonly { readonly branch: string; readonly session: Listed }[] {
  const known = new Set(sessions.map(({ id }) => id))
  const below = new Map<string | null, Listed[]>()
  for (const session of sessions) {
    // An ended parent is not listed: then the nearest session above that is.
    const parent = session.sessionsAbove?.find((id) => known.has(id)) ?? null
    below.set(parent, [...(below.get(parent) ?? []), session])
  }
  const lines: { readonly branch: string; readonly session: Listed }[] = []
  const add = (parent: string, before: string) => {
    const children = below.get(parent) ?? []
    for (const [index, session] of children.entries()) {
      const isLast = index === children.length - 1
      lines.push({ branch: `${before}${isLast ? '└─ ' : '├─ '}`, session })
      add(session.id, `${before}${isLast ? '   ' : '│  '}`)
    }
  }
  for (const session of below.get(null) ?? []) {
    lines.push({ branch: '', session })
    add(session.id, '')
  }
  return lines
}

type Listed = OutputOf<'sessions'>['sessions'][number] & { readonly budget: OutputOf<'budget'> }

/** Undefined if it has been deleted since it was listed. */
async function budgetOf(reeve: ReeveVerbs, session: string): Promise<OutputOf<'budget'> | undefined> {
  try {
    return await reeve.budget({ session })
  } catch (error) {
    if (error instanceof ReeveError && error.code === 'session_unknown') return undefined
    throw error
  }
}

export async function allSessions(reeve: ReeveVerbs): Promise<OutputOf<'sessions'>['sessions']> {
  const found: OutputOf<'sessions'>['sessions'] = []
  while (true) {
    const after = found.at(-1)?.id
    const page = await reeve.sessions({ limit: PAGE, ...(after === undefined ? {} : { after }) })
    found.push(...page.sessions)
    if (page.sessions.length < PAGE) return found
  }
}
