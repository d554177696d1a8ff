import { resolve } from 'node:path'
import { subcommand } from '../subcommand.ts'
import { UsageError } from '../usage-error.ts'

export const restore = subcommand({
  name: 'restore',
  summary: 'Restores a backup into a new home',
  usage: ['restore [options] <folder>'],
  options: {},
  about: `
Checks every file of the backup, then fills the home (--home or REEVE_HOME), which must not have a store yet. Commands that were
live when the backup was made end as abandoned: their programs belong to the original home. Workflows go on from their
last step when a daemon starts. A new admin token is made.`,
  examples: [
    ['reeve restore reeve-backup-2026-11-16T09-30-00 --home ~/restored', ''],
    ['reeve ps -a --home ~/restored', 'look at it'],
  ],
  async run(context) {
    const { args, around, daemon, home, print } = context
    const [folder] = args
    if (folder === undefined || args.length > 1)
      throw new UsageError(
        folder === undefined
          ? 'reeve restore was given no backup.'
          : `reeve restore was given ${args.join(' ')}.`,
        'Give the folder that reeve backup printed.',
      )
    const report = await daemon.restore(home, resolve(around.cwd, folder))
    if (print.isJson) print.json(report)
    else {
      const madeAt = new Date(report.madeAt).toLocaleString()
      print.line(`Restored ${report.processes} processes, as of ${madeAt}, into ${report.home}.`)
      print.line(
        `Commands that were live then are abandoned here: their programs belong to ${report.madeFrom}.`,
      )
    }
    return 0
  },
})
