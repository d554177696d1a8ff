import { didYouMean } from '../../base/nearest-name.ts'
import type { OutputOf } from '../../verbs/reeve.ts'
import type { Context } from '../context.ts'
import { ago } from '../print/times.ts'
import { subcommand } from '../subcommand.ts'
import { UsageError } from '../usage-error.ts'

const ACTIONS = ['list', 'remove']
/** How many pids a row of the list shows. */
const MAX_PIDS = 3

export const holders = subcommand({
  name: 'holders',
  summary: 'Lists the programs that hold leases on processes, and removes one that hangs',
  usage: ['holders [list]', 'holders remove <id>… [--force]'],
  completes: ACTIONS,
  options: {
    force: { type: 'flag', about: 'remove also a holder that is alive' },
  },
  about:
    'A program on this machine that hangs keeps its leases. Removing it settles its processes as if it had died: rerunnable ones start again elsewhere, bound ones are abandoned. If the program goes on, its writes are refused.',
  examples: [
    ['reeve holders', 'all holders, and which are silent'],
    ['reeve holders remove k_5f0c9a1b2d3e4f60', ''],
  ],
  async run(context) {
    const { args, options, print } = context
    const [action = 'list', ...ids] = args
    if (!ACTIONS.includes(action))
      throw new UsageError(
        `reeve holders does not know ${action}.${didYouMean(action, ACTIONS)}`,
        `It knows ${ACTIONS.join(', ')}.`,
      )
    const reeve = await context.acting()
    if (action === 'list') {
      const { holders: found } = await reeve.holders({})
      if (print.isJson) print.jsonList(found)
      else printTable(context, found)
      return 0
    }
    if (ids.length === 0)
      throw new UsageError('reeve holders remove needs the id of a holder.', 'reeve holders lists them.')
    const reports: unknown[] = []
    for (const id of ids) {
      const report = await reeve.removeHolder({ id, force: options.force })
      reports.push(report)
      if (!print.isJson) print.line(`${id} removed${settledText(report)}`)
    }
    if (print.isJson) print.jsonList(reports)
    return 0
  },
})

type Found = OutputOf<'holders'>['holders'][number]

function printTable({ print }: Pick<Context<object>, 'print'>, found: readonly Found[]): void {
  const now = Date.now()
  const { blue, dim, red, green } = print.colours
  const paints = { live: green, silent: red, dead: red } as const
  const titles = ['ID', 'ROLE', 'STATE', 'PID', 'HOST', 'AGE', 'RENEWED']
  print.table(
    [...titles.map((title) => ({ title })), { title: 'HOLDS', flexible: true }],
    found.map((holder) => [
      { text: holder.id, paint: blue },
      { text: holder.role ?? '' },
      { text: holder.state, paint: paints[holder.state] },
      { text: holder.osPid === null ? '' : String(holder.osPid) },
      { text: holder.host ?? '' },
      { text: holder.since === null ? '' : ago(holder.since, now), paint: dim },
      { text: holder.renewedAt === null ? '' : ago(holder.renewedAt, now), paint: dim },
      { text: heldText(holder) },
    ]),
  )
}

function heldText({ holds, holdsMore }: Found): string {
  const shown = holds.slice(0, MAX_PIDS).join(' ')
  const more = holds.length - Math.min(holds.length, MAX_PIDS)
  if (more === 0) return shown
  return `${shown} and ${more}${holdsMore ? ' or more' : ''} others`
}

function settledText({ rerun, abandoned, completed }: OutputOf<'removeHolder'>): string {
  const counts = [
    [rerun.length, 'to be rerun'],
    [abandoned.length, 'abandoned'],
    [completed.length, 'ended'],
  ] as const
  const said = counts.filter(([count]) => count > 0).map(([count, what]) => `${count} ${what}`)
  return said.length === 0 ? '; it held nothing' : `: ${said.join(', ')}`
}
