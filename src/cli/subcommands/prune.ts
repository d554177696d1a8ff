import { refuseExtraArguments } from '../arguments.ts'
import { keptText } from '../print/kept.ts'
import { subcommand } from '../subcommand.ts'
import { UsageError } from '../usage-error.ts'

export const prune = subcommand({
  name: 'prune',
  summary: 'Removes ended processes with their events, notices and output',
  usage: ['prune --older-than <time>', 'prune --keep <count>'],
  options: {
    'older-than': { type: 'duration', about: 'processes that ended longer ago than this: 7d, 12h' },
    keep: { type: 'number', value: 'count', about: 'all but this many of the latest' },
    quiet: { type: 'flag', short: 'q', about: 'print nothing' },
  },
  fields: { olderThanMs: 'older-than' },
  about: `
Keeps live processes, processes that a live process refers to, and processes with an unread notice (reeve inbox --ack reads it;
reeve rm removes the process all the same). The daemon also prunes by itself: reeve status shows what it keeps, and the settings
keepEndedMs and keepEnded change that.`,
  examples: [
    ['reeve prune --older-than 7d', ''],
    ['reeve prune --keep 100', ''],
  ],
  async run(context) {
    refuseExtraArguments(context, { name: 'prune' })
    const { options, print } = context
    const { 'older-than': olderThanMs, keep } = options
    if (olderThanMs === undefined && keep === undefined)
      throw new UsageError(
        'reeve prune needs --older-than or --keep.',
        'For example: reeve prune --older-than 7d',
      )
    const reeve = await context.acting()
    const { pruned, kept } = await reeve.prune({
      ...(olderThanMs === undefined ? {} : { olderThanMs }),
      ...(keep === undefined ? {} : { keep }),
    })
    if (print.isJson) print.json({ pruned, kept })
    else if (!options.quiet) {
      print.line(`Removed ${pruned.length} ${pruned.length === 1 ? 'process' : 'processes'}.`)
      for (const line of keptText(kept)) print.line(line)
    }
    return 0
  },
})
