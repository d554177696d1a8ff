import { refuseExtraArguments } from '../arguments.ts'
import { keptText } from '../print/kept.ts'
import { subcommand } from '../subcommand.ts'
import { UsageError } from '../usage-error.ts'

export const prune = subcommand({
  name: 'prune',
  summary: 'Removes ended processes with their events, notices and output',
  usage: ['prune --older-than <time>', 'prune --keep <count>'],
  options: {
    'older-than': { type: 'duration', about: 'those that ended longer ago: 7d, 12h' },
    keep: { type: 'number', value: 'count', about: 'all but the latest of these' },
    quiet: { type: 'flag', short: 'q', about: 'print nothing' },
  },
  fields: { olderThanMs: 'older-than' },
  about: `
Never removes a process that runs, nor one that a running process refers to, nor one that a notice tells of which is unread (reeve
inbox --ack; reeve rm removes it all the same). The daemon prunes by itself, too: reeve status says what it keeps, and keepEndedMs and
keepEnded in its settings change that.`,
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
        'reeve prune was not told what to remove.',
        'reeve prune --older-than 7d, for example.',
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
