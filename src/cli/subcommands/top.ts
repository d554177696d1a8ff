import { refuseExtraArguments } from '../arguments.ts'
import { subcommand } from '../subcommand.ts'
import { liveTop } from '../top/live.ts'
import { SORTS, type Sort } from '../top/picture.ts'
import { printSnapshots } from '../top/snapshot.ts'

export const top = subcommand({
  name: 'top',
  summary: 'Shows live processes and their resource use',
  usage: ['top [options]'],
  options: {
    once: { type: 'flag', about: 'measure for a second, print the figures, and exit' },
    session: { type: 'texts', value: 'id', about: 'only processes of this session; repeatable' },
    sort: { type: 'text', value: 'order', choices: SORTS, about: 'by default tree' },
  },
  about: `
Arrows, j, PgUp, PgDn, g and G move; l shows the output of a command; k kills, after a question; p pauses and resumes; a or Enter
attaches to the terminal of a command, and Ctrl-] comes back; / filters by a text; s changes the order; ? explains the keys; q
quits. CPU is relative to one core. Ended processes stay for ten seconds. Without a terminal, and with --json, it behaves as with
--once; --jsonl prints a line each second.`,
  examples: [
    ['reeve top', 'live'],
    ['reeve top --once --sort cpu', 'the busiest processes first'],
    ['reeve top --jsonl | jq .processes[].cpuPercent', 'for programs'],
  ],
  async run(context) {
    refuseExtraArguments(context, { name: 'top' })
    const { options, print, around } = context
    const filter = options.session.length === 0 ? {} : { owner: { session: [...options.session] } }
    const sort = (options.sort ?? 'tree') as Sort
    const reeve = await context.acting()
    const isLive = !options.once && !print.isJson && around.stdout.isTTY && around.stdin.isTTY
    if (isLive) return liveTop(context, reeve, { filter, sort })
    await printSnapshots(context, reeve, { filter, sort, goOn: options.jsonl && !options.once })
    return 0
  },
})
