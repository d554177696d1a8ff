import { refuseExtraArguments } from '../arguments.ts'
import { reportCode, reportText } from '../print/report.ts'
import { subcommand } from '../subcommand.ts'

export const interrupt = subcommand({
  name: 'interrupt',
  summary: 'Asks a process, or all processes of a session, a turn or a tool call, to stop',
  usage: ['interrupt [options] [process]'],
  completes: 'live process',
  options: {
    session: { type: 'text', value: 'id', about: 'processes of this session' },
    turn: { type: 'text', value: 'id', about: 'processes of this turn' },
    'tool-call': { type: 'text', value: 'id', about: 'processes of this tool call' },
    tree: { type: 'flag', about: 'also the descendants of matching processes' },
    reason: { type: 'text', value: 'text', about: 'the reason, which is recorded' },
  },
  about:
    'A process must match all given selectors. Commands get SIGINT, as from Ctrl-C, and are forced after their grace.',
  examples: [
    ['reeve interrupt build', 'one process, like Ctrl-C'],
    ['reeve interrupt --session s1', 'all processes of a session'],
  ],
  async run(context) {
    refuseExtraArguments(context, { name: 'interrupt' }, 1)
    const { options, print, args } = context
    const reeve = await context.acting()
    const [given] = args
    const { session, turn, 'tool-call': toolCall, tree, reason } = options
    const report = await reeve.interrupt({
      scope: {
        // A scope takes whole pids; the command line takes names and prefixes, too.
        ...(given === undefined ? {} : { pid: (await reeve.show({ pid: given })).pid }),
        ...(session === undefined ? {} : { session }),
        ...(turn === undefined ? {} : { turn }),
        ...(toolCall === undefined ? {} : { toolCall }),
      },
      tree,
      ...(reason === undefined ? {} : { reason }),
    })
    if (print.isJson) print.json(report)
    else for (const line of reportText(report, 'asked to stop')) print.line(line)
    return reportCode(report)
  },
})
