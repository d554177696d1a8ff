import { refuseExtraArguments } from '../arguments.ts'
import { subcommand } from '../subcommand.ts'
import { liveTop } from '../top/live.ts'
import { SORTS, type Sort } from '../top/picture.ts'
import { printSnapshots } from '../top/snapshot.ts'

export const top = subcommand({
  name: 'top',
  summary: 'Shows what runs and what it uses, live',
  usage: ['top [options]'],
  options: {
    once: { type: 'flag', about: 'print what is used within a second, and end' },
    session: { type: 'texts', value: 'id', about: 'of this session; may be given more than once' },
    sort: { type: 'text', value: 'order', choices: SORTS, about: 'tree unless it says otherwise' },
  },
  about: `
Arrows, j, PgUp, PgDn, g and G move; l shows what a command has printed; k kills, and asks first; p pauses and
resumes; a or Enter sits down at the terminal of a command, and Ctrl-] comes back; / shows only what has a text in
it; s sorts otherwise; ? says what the keys do; q quits.
CPU is of one core. What has ended is shown for ten seconds more. Without a terminal, and with --json, it is as
with --once; --jsonl is a line for each second.`,
  examples: [
    ['reeve top', 'live'],
    ['reeve top --once --sort cpu', 'what is busy now'],
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
