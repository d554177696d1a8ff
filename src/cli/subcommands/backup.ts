import { resolve } from 'node:path'
import { quoted } from '../print/status.ts'
import { subcommand } from '../subcommand.ts'
import { UsageError } from '../usage-error.ts'

export const backup = subcommand({
  name: 'backup',
  summary: 'Copies the home while the daemon runs',
  usage: ['backup [options] [folder]'],
  options: {
    quiet: { type: 'flag', short: 'q', about: 'print only the folder' },
  },
  about: `
Copies a snapshot of the store, the output logs, the settings and the hashes of tokens into a new folder (by default
reeve-backup-<time> in this folder). The admin token, secrets and running programs are not part of it.
For a store in PostgreSQL use pg_dump.`,
  examples: [
    ['reeve backup', 'into a folder named after the time'],
    ['reeve backup /mnt/backups/monday', ''],
    ['reeve restore /mnt/backups/monday --home ~/restored', 'restore it into a new home'],
  ],
  async run(context) {
    const { args, around, daemon, home, options, print } = context
    if (args.length > 1) throw new UsageError(`reeve backup was given ${args.join(' ')}.`, 'Give one folder.')
    const now = Date.now()
    const into = resolve(around.cwd, args[0] ?? `reeve-backup-${timeName(now)}`)
    const isShown = around.stderr.isTTY === true && !options.quiet && !print.isJson
    const report = await daemon.backUp(home, into, {
      now,
      onOutputCopied: (done, all) => {
        if (isShown && (done === all || done % PROGRESS_LOGS === 0))
          print.aside(`${done} of ${all} output logs copied`)
      },
    })
    if (print.isJson) print.json(report)
    else if (options.quiet) print.line(report.folder)
    else {
      print.line(
        `Backed up ${report.processes} processes, ${report.files} files, ${sizeText(report.bytes)}, to ${report.folder}.`,
      )
      print.line(`reeve restore ${quoted(report.folder)} --home <folder> restores it into a new home.`)
    }
    return 0
  },
})

const PROGRESS_LOGS = 1_000

/** `2026-11-16T09-30-00`: sorts by time, and is a valid file name on every system. */
function timeName(now: number): string {
  return new Date(now).toISOString().slice(0, 19).replaceAll(':', '-')
}

function sizeText(bytes: number): string {
  if (bytes < 1024) return `${bytes} bytes`
  const kib = bytes / 1024
  return kib < 1024 ? `${Math.ceil(kib)} KiB` : `${(kib / 1024).toFixed(1)} MiB`
}
