import { refuseExtraArguments } from '../arguments.ts'
import { FILTER_OPTIONS, filterOf } from '../filter-options.ts'
import { type Listed, listProcesses } from '../list-processes.ts'
import { howToAnswer } from '../pending-approvals.ts'
import { briefUse } from '../print/budget.ts'
import type { Colours } from '../print/colour.ts'
import { askedIn, commandText, statusCell } from '../print/status.ts'
import type { Cell, Column } from '../print/table.ts'
import { ago, shortTime } from '../print/times.ts'
import { subcommand } from '../subcommand.ts'

export const ps = subcommand({
  name: 'ps',
  summary: 'Lists processes: the live ones, or all',
  usage: ['ps [options]'],
  options: {
    all: { type: 'flag', short: 'a', about: 'ended processes, too' },
    quiet: { type: 'flag', short: 'q', about: 'print only pids' },
    last: { type: 'number', short: 'n', value: 'count', about: 'the newest processes, of any status' },
    reveal: { type: 'flag', about: 'show secrets unmasked; this is recorded with the processes' },
    ...FILTER_OPTIONS,
  },
  about: 'USED shows the allowances that are nearest to their limits; reeve show lists all.',
  examples: [
    ['reeve ps', 'live processes'],
    ['reeve ps -a --session s1', 'all processes of a session'],
    ['reeve kill $(reeve ps -q --status paused)', 'pids as arguments of another subcommand'],
  ],
  async run(context) {
    refuseExtraArguments(context, { name: 'ps' })
    const { options, print } = context
    const { all, quiet, last } = options
    const filter = filterOf(options)
    const status = filter.status ?? (all || last !== undefined ? 'any' : undefined)
    const reeve = await context.acting()
    const wanted = { ...filter, ...(status === undefined ? {} : { status }) }
    const found = await listProcesses(reeve, wanted, Number.POSITIVE_INFINITY, {
      ports: !quiet,
      budgets: !quiet,
      reveal: options.reveal,
    })
    const processes = last === undefined ? found : found.slice(-last)
    if (print.isJson) print.jsonList(processes.map(({ record, ...more }) => ({ ...record, ...more })))
    else if (quiet) for (const { record } of processes) print.line(record.pid)
    else {
      const { columns, rows } = processTable(processes, Date.now(), print.colours)
      print.table(columns, rows)
      const held = processes.filter(({ heldBack }) => heldBack !== undefined).length
      if (held > 0)
        print.aside(`${held} of them wait for disk space to write their output: see reeve status.`)
      const [asked, ...others] = processes.flatMap(({ record }) => askedIn(record) ?? [])
      if (asked !== undefined)
        print.aside(
          others.length === 0
            ? `1 of them waits for you: ${howToAnswer(asked)}`
            : `${others.length + 1} of them wait for you: reeve approvals`,
        )
    }
    return 0
  },
})

function processTable(processes: readonly Listed[], now: number, colours: Colours) {
  const withSession = processes.some(({ record }) => record.owner.session !== undefined)
  const withPorts = processes.some(({ ports }) => ports !== undefined)
  const withBudget = processes.some(({ budget }) => budget !== undefined)
  const columns: Column[] = [
    { title: 'PID' },
    { title: 'NAME', shrinks: true },
    { title: 'STATUS', shrinks: true },
    { title: 'SINCE' },
    ...(withSession ? [{ title: 'SESSION', shrinks: true as const }] : []),
    ...(withPorts ? [{ title: 'PORTS', shrinks: true as const }] : []),
    ...(withBudget ? [{ title: 'USED', shrinks: true as const }] : []),
    { title: 'COMMAND', flexible: true },
  ]
  const rows = processes.map(({ record, shared, ports, budget, heldBack }): Cell[] => {
    const { outcome, firstStarted, createdAt } = record
    const since =
      outcome === null ? shortTime(now - (firstStarted?.at ?? createdAt)) : ago(outcome.endedAt, now)
    const session = `${record.owner.session ?? ''}${shared ? ' (shared)' : ''}`
    return [
      { text: record.pid, paint: colours.blue },
      { text: record.name ?? '', paint: colours.bold },
      heldBack === undefined
        ? statusCell(record, colours)
        : { text: `${record.status}, held back`, paint: colours.yellow },
      { text: since, paint: colours.dim },
      ...(withSession ? [{ text: session }] : []),
      ...(withPorts ? [{ text: (ports ?? []).map((port) => `:${port}`).join(' ') }] : []),
      ...(withBudget ? [{ text: budget === undefined ? '' : briefUse(budget) }] : []),
      { text: commandText(record) },
    ]
  })
  return { columns, rows }
}
