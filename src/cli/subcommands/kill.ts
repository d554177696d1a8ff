import type { OutputOf } from '../../verbs/reeve.ts'
import { requireProcesses } from '../arguments.ts'
import { FILTER_OPTIONS, filterOf } from '../filter-options.ts'
import { reportCode, reportText } from '../print/report.ts'
import { statusText } from '../print/status.ts'
import { ago } from '../print/times.ts'
import { subcommand } from '../subcommand.ts'
import { UsageError } from '../usage-error.ts'

type Killed = OutputOf<'kill'>

function outcomeText({ type: answer, record }: Killed): string {
  if (answer === 'asked') return 'asked to end'
  if (answer === 'unrecorded') return 'ended; recorded when the store can be written again (reeve status)'
  const status = statusText(record)
  if (answer === 'ended') return status
  const { endedAt } = record.outcome ?? { endedAt: null }
  return `had ended before: ${status}${endedAt === null ? '' : `, ${ago(endedAt, Date.now())}`}`
}

export const kill = subcommand({
  name: 'kill',
  summary: 'Ends processes and everything they started',
  usage: ['kill [options] <process>…', 'kill --all [options]'],
  completes: 'live process',
  options: {
    grace: {
      type: 'duration',
      short: 'g',
      about: 'how long a process may take to end before it is forced; 0: it is never forced',
    },
    reason: { type: 'text', value: 'text', about: 'the reason, which is recorded' },
    all: {
      type: 'flag',
      about: 'all live processes that match the options below, and programs that ended commands left running',
    },
    quiet: { type: 'flag', short: 'q', about: 'print nothing' },
    ...FILTER_OPTIONS,
  },
  fields: { graceMs: 'grace' },
  about: 'Asks the process to end, forces it after the grace, and returns when it is gone.',
  examples: [
    ['reeve kill web', 'one process'],
    ['reeve kill -g 30s db cache', 'two, with time to write their files'],
    ['reeve kill --all --session s1', 'all processes of a session'],
  ],
  async run(context) {
    const { options, print } = context
    const filter = filterOf(options)
    const why = {
      ...(options.grace === undefined ? {} : { graceMs: options.grace }),
      ...(options.reason === undefined ? {} : { reason: options.reason }),
    }
    const reeve = await context.acting()
    if (options.all) {
      if (context.args.length > 0)
        throw new UsageError('Give either --all or names, not both.', 'Leave one of them out.')
      const report = await reeve.killAll({ filter, ...why })
      if (print.isJson) print.json(report)
      else if (!options.quiet) for (const line of reportText(report, 'ended')) print.line(line)
      return reportCode(report)
    }
    if (Object.keys(filter).length > 0)
      throw new UsageError('Filters need --all.', 'For example: reeve kill --all --session s1')
    // In parallel: each may take its whole grace.
    const pids = requireProcesses(context, { name: 'kill' })
    const killed = await Promise.allSettled(pids.map((pid) => reeve.kill({ pid, ...why })))
    const answers = killed.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
    if (print.isJson) print.jsonList(answers)
    else if (!options.quiet) {
      for (const killed of answers)
        print.line(`${killed.record.name ?? killed.record.pid}  ${outcomeText(killed)}`)
    }
    const failures = killed.flatMap((one) => (one.status === 'rejected' ? [one.reason as unknown] : []))
    for (const error of failures.slice(0, -1)) print.failure(error as { message: string; remedy: string })
    if (failures.length > 0) throw failures.at(-1)
    return 0
  },
})
