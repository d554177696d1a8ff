import type { OutputOf, ReeveVerbs } from '../../verbs/reeve.ts'
import type { Context } from '../context.ts'
import { followApprovals } from '../follow-approvals.ts'
import { approvalCard, type Names, specText } from '../print/approval-card.ts'
import { ago } from '../print/times.ts'
import { subcommand } from '../subcommand.ts'
import { UsageError } from '../usage-error.ts'

/** More than a person reads. */
const MAX_LISTED = 1_000

export const approvals = subcommand({
  name: 'approvals',
  summary: 'Lists what agents ask you for, or shows one request in full',
  usage: ['approvals [--all]', 'approvals --follow', 'approvals <approval>…'],
  options: {
    all: { type: 'flag', short: 'a', about: 'also those that are settled' },
    follow: {
      type: 'flag',
      short: 'f',
      about: 'then new ones as they come, and how each is settled; rings the bell of the terminal after 2 s',
    },
  },
  about:
    'A rule of `reeve policy` makes an agent ask. The process that asks waits, also while the daemon is down, until `reeve approve` or `reeve deny` answers.',
  examples: [
    ['reeve approvals', 'the requests that wait for an answer, the most urgent first'],
    ['reeve approvals a_7k3m9q2x4t8v', 'the exact action, who asks and why, and what you may answer'],
    ['reeve approvals -f', 'wait for new ones, in a window of their own'],
    ['reeve approvals --json', 'all of it, for programs'],
  ],
  async run(context) {
    const { args, options, print } = context
    const reeve = await context.acting()
    if (args.length > 0) return showEach(context, reeve, args)
    if (options.follow) {
      await followApprovals(context, reeve)
      return 0
    }
    const { found, pending } = await list(reeve, options.all)
    if (print.isJson) print.jsonList(found)
    else printTable(context, found, await namesFor(reeve, found), options.all)
    if (pending > found.length)
      print.aside(`${pending - found.length} more wait. Answer these first, or list all with --all.`)
    return 0
  },
})

/** Settled ones by age, in pages. Those that wait are the queue of people: the most urgent of them, in one page. */
async function list(
  reeve: ReeveVerbs,
  all: boolean,
): Promise<{ readonly found: readonly Found[]; readonly pending: number }> {
  const found: Found[] = []
  for (let after: number | null = null; ; ) {
    const page: OutputOf<'approvals'> = await reeve.approvals({
      ...(all ? { state: 'any' as const } : { order: 'priority' as const, limit: MAX_LISTED }),
      ...(after === null ? {} : { after }),
    })
    found.push(...page.approvals)
    after = page.next
    if (after === null) return { found, pending: page.pending ?? 0 }
  }
}

async function showEach(
  { print }: Pick<Context<object>, 'print'>,
  reeve: ReeveVerbs,
  ids: readonly string[],
): Promise<number> {
  const shown: Found[] = []
  // `show` is a word that other subcommands have.
  const [first, ...others] = ids
  if (first === 'show' && others.length === 0)
    throw new UsageError('reeve approvals show needs an approval.', 'List them with: reeve approvals')
  for (const id of first === 'show' ? others : ids) shown.push((await reeve.approval({ id })).approval)
  if (print.isJson) print.jsonList(shown)
  else {
    const names = await namesFor(reeve, shown)
    for (const [index, approval] of shown.entries()) {
      if (index > 0) print.line()
      print.facts(approvalCard(approval, names))
    }
  }
  return 0
}

type Found = OutputOf<'approvals'>['approvals'][number]

/** Processes and sessions of one page. */
const MAX_NAMED = 200

/** Names for the table. A process or session without one, or beyond the first page, is shown by its id. */
async function namesFor(reeve: ReeveVerbs, found: readonly Found[]): Promise<Names> {
  const pids = [...new Set(found.flatMap(pidsIn))].slice(0, MAX_NAMED)
  const sessions = new Set(found.map(({ request }) => request.subject).filter(isSession))
  const names = new Map<string, string>()
  if (pids.length > 0) {
    const { processes } = await reeve.list({ filter: { pid: pids, status: 'any' }, limit: MAX_NAMED })
    for (const { record } of processes) {
      const name = record.name ?? (record.kind === 'agent' ? record.identity.label : null)
      if (name !== null) names.set(record.pid, name)
    }
  }
  if (sessions.size > 0)
    for (const { id, label } of (await reeve.sessions({ limit: MAX_NAMED })).sessions)
      if (label !== null && sessions.has(`session:${id}`)) names.set(`session:${id}`, label)
  return names
}

function pidsIn({ pid, request }: Found): readonly string[] {
  const { subject, ancestors } = request
  const own = subject.startsWith('process:') ? [subject.slice('process:'.length)] : []
  return [pid, ...own, ...ancestors]
}

function isSession(subject: string): boolean {
  return subject.startsWith('session:')
}

function printTable(
  { print }: Pick<Context<object>, 'print'>,
  found: readonly Found[],
  names: Names,
  all: boolean,
): void {
  if (found.length === 0) {
    print.line(all ? 'No agent has asked for an approval.' : 'No approval waits for an answer.')
    return
  }
  const now = Date.now()
  const { blue, dim, yellow, green } = print.colours
  const nameOf = (id: string) => names.get(id) ?? id
  print.table(
    [
      ...['ID', 'ASKED', 'STATE'].map((title) => ({ title })),
      { title: 'WHO', shrinks: true },
      { title: 'PROCESS', shrinks: true },
      { title: 'WHAT', flexible: true },
    ],
    found.map((approval) => [
      { text: approval.id, paint: blue },
      { text: ago(approval.askedAt, now), paint: dim },
      { text: stateOf(approval), paint: approval.state === 'pending' ? yellow : green },
      { text: nameOf(approval.request.subject.replace(/^process:/, '')) },
      { text: nameOf(approval.pid), paint: blue },
      { text: whatOf(approval) },
    ]),
  )
}

function stateOf({ state, answer }: Found): string {
  if (answer?.type === 'approved' && answer.spec !== null) return 'approved with changes'
  return answer === null ? state : answer.type
}

function whatOf({ request, answer }: Found): string {
  if (request.type === 'question')
    return request.choices === null ? request.text : `${request.text} (${request.choices.join(', ')})`
  const why = [request.reason, request.justification].filter((text) => text !== null && text !== '')
  const whyText = why.length === 0 ? '' : ` (${why.join('; ')})`
  const edited =
    answer?.type === 'approved' && answer.spec !== null
      ? `ran instead: ${specText(answer.spec)}; asked for: `
      : ''
  const doubt = request.doubt === undefined ? '' : `; the rule may apply: ${request.doubt}`
  return `${edited}${request.needs.join('; ')}${whyText}${doubt}`
}
