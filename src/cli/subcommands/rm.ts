import { requireProcesses } from '../arguments.ts'
import { FAILED } from '../exit-code.ts'
import { reasonText } from '../print/kept.ts'
import { subcommand } from '../subcommand.ts'

export const rm = subcommand({
  name: 'rm',
  summary: 'Removes ended processes by name or pid',
  usage: ['rm [options] <process>…'],
  completes: 'process',
  options: {
    force: { type: 'flag', short: 'f', about: 'kill live processes first' },
    quiet: { type: 'flag', short: 'q', about: 'print nothing' },
  },
  about: 'Removes the events, notices and output of the process, too. Its pid is refused from then on.',
  examples: [
    ['reeve rm build', ''],
    ['reeve rm -f web', 'end it, then remove it'],
    ['reeve prune --older-than 7d', 'remove many'],
  ],
  async run(context) {
    const { options, print } = context
    const reeve = await context.acting()
    const named = requireProcesses(context, { name: 'rm' })
    const found = await Promise.all(named.map((pid) => reeve.show({ pid })))
    if (options.force) await Promise.all(found.map(({ pid }) => reeve.kill({ pid })))
    const pids = [...new Set(found.map(({ pid }) => pid))]
    const { pruned, kept } = await reeve.prune({ pids })
    if (print.isJson) print.json({ pruned, kept })
    else {
      const nameOf = (pid: string) => found.find((record) => record.pid === pid)?.name ?? pid
      if (!options.quiet) for (const pid of pruned) print.line(`${nameOf(pid)}  removed`)
      for (const { pid, reason } of kept)
        print.failure({
          code: 'kept',
          message: `${nameOf(pid)} was not removed: ${reasonText(reason)}.`,
          remedy:
            reason === 'live' ? `End it first: reeve rm -f ${nameOf(pid)}` : 'Try again when that is over.',
        })
    }
    return kept.length === 0 ? 0 : FAILED
  },
})
