import type { ReeveVerbs } from '../../verbs/reeve.ts'
import { refuseExtraArguments, requireProcesses } from '../arguments.ts'
import type { Context } from '../context.ts'
import { reportHeldBack } from '../foreground/report-held-back.ts'
import { listProcesses } from '../list-processes.ts'
import { destinationOf } from '../logs/export-file.ts'
import { showLines } from '../logs/many-logs.ts'
import { showOneLog } from '../logs/one-log.ts'
import type { StreamName } from '../logs/stream-pieces.ts'
import { momentOf } from '../moment.ts'
import type { Options } from '../options.ts'
import { heldBackText } from '../print/held-back.ts'
import type { ProcessRecord } from '../print/status.ts'
import { subcommand } from '../subcommand.ts'
import { UsageError } from '../usage-error.ts'

/** Each followed log has a connection of its own. */
const MAX_LOGS = 100

const OPTIONS = {
  follow: {
    type: 'flag',
    short: 'f',
    about: 'follow new output, through restarts, until the command has ended',
  },
  tail: { type: 'number', short: 'n', value: 'lines', about: 'only the last lines' },
  since: { type: 'text', value: 'time', about: 'only output since this time: 5m, 12:30, 2026-03-01T12:30' },
  until: { type: 'text', value: 'time', about: 'only output until this time' },
  timestamps: { type: 'flag', short: 't', about: 'print the local time before each line, to the second' },
  all: { type: 'flag', short: 'a', about: 'the logs of all live commands' },
  output: { type: 'text', short: 'o', value: 'file', about: 'write to this file, which is overwritten' },
  from: { type: 'number', value: 'offset', about: 'begin at this byte of the output' },
  stream: {
    type: 'text',
    value: 'stream',
    choices: ['stdout', 'stderr'],
    about: 'only this stream, of a command that keeps its streams apart',
  },
  reveal: { type: 'flag', about: 'show secrets unmasked; this is recorded with the process' },
  raw: { type: 'flag', about: 'print all escape sequences on a terminal, not only colours' },
} as const

type LogsOptions = Options<typeof OPTIONS>

export const logs = subcommand({
  name: 'logs',
  summary: 'Prints the output of commands; -f follows it',
  usage: ['logs [options] <process>…', 'logs [options] --all'],
  completes: 'process',
  options: OPTIONS,
  about: `
The lines of several commands are merged in the order in which they were printed, each with the name of its command before it. A
command that --restart starts again is followed under its new pid.

Times are local unless they have a zone (Z, +01:00): 12:30 is today, 2026-03-01 the beginning of that day, 5m five minutes ago;
today, yesterday and @1772368205 (seconds since 1970) are times, too.

A file or a pipe gets the bytes as they were printed. A terminal gets only colours: other escape sequences, which could set its
title or clipboard or move its cursor, are removed, and control characters are made visible, unless you give --raw. Secrets are
masked with *, one for each byte. A gap in the output, where bytes are no longer kept, is reported on standard error. With --jsonl
each line has its number and offset; with -f its offset and text.`,
  examples: [
    ['reeve logs web', 'all output'],
    ['reeve logs -fn 20 web api', 'the last 20 lines of both, then new output'],
    ['reeve logs --all -f -t', 'all live commands, with times'],
    ['reeve logs --since 10:00 --until 10:15 web -o web.log', 'a quarter of an hour, into a file'],
  ],
  async run(context) {
    const { options } = context
    const asked = { ...options, ...boundsOf(options), stream: options.stream as StreamName | undefined }
    const reeve = await context.acting()
    const records = await recordsOf(context, reeve)
    refuseMixedStreams(options, records)
    const destination = await destinationOf(context)
    const [only] = records
    const stopTelling = options.follow ? records.map(({ pid }) => reportHeldBack(context, reeve, pid)) : []
    try {
      if (only === undefined) context.print.aside('No command is running.')
      else if (records.length === 1 && !options.timestamps && !options.all)
        await showOneLog(destination, reeve, only.pid, asked)
      else
        await showLines(destination, reeve, records, { ...asked, labels: records.length > 1 || options.all })
    } finally {
      for (const stop of stopTelling) stop()
      await destination.close()
    }
    if (!options.follow) await explainHeldBack(context, reeve, records)
    return 0
  },
})

function boundsOf({ since, until, follow }: LogsOptions) {
  if (follow && until !== undefined)
    throw new UsageError('Give either -f or --until, not both.', '-f has no end, and --until sets one.')
  const now = Date.now()
  return {
    since: since === undefined ? undefined : Math.max(0, momentOf(since, '--since', now)),
    until: until === undefined ? undefined : Math.max(0, momentOf(until, '--until', now)),
  }
}

/** Names are resolved once: a name may pass to another process while its output is printed. */
async function recordsOf(context: Context<LogsOptions>, reeve: ReeveVerbs): Promise<ProcessRecord[]> {
  if (context.options.all) refuseExtraArguments(context, { name: 'logs --all' })
  const found = context.options.all
    ? (await listProcesses(reeve, { kind: ['command'] }, MAX_LOGS + 1)).map(({ record }) => record)
    : await Promise.all(requireProcesses(context, { name: 'logs' }).map((pid) => reeve.show({ pid })))
  const records = [...new Map(found.map((record) => [record.pid, record])).values()]
  if (records.length <= MAX_LOGS) return records
  throw new UsageError(
    `reeve logs shows up to ${MAX_LOGS} commands at once.`,
    'Name the commands that you want to see.',
  )
}

function refuseMixedStreams({ stream }: LogsOptions, records: readonly ProcessRecord[]): void {
  const mixed = records.find(({ spec }) => spec['output'] !== 'tagged')
  if (stream === undefined || mixed === undefined) return
  throw new UsageError(
    `The streams of ${mixed.name ?? mixed.pid} are not kept apart.`,
    'Start it with reeve run -d --split, or leave --stream out.',
  )
}

/** Explains why the end of a log may be missing: a full disk holds it back. */
async function explainHeldBack(
  { print }: Context<LogsOptions>,
  reeve: ReeveVerbs,
  records: readonly ProcessRecord[],
): Promise<void> {
  const live = records.filter(({ outcome }) => outcome === null).map(({ pid }) => pid)
  if (live.length === 0) return
  const { processes } = await reeve.list({ filter: { pid: live } })
  for (const { record, heldBack } of processes)
    if (heldBack !== undefined)
      print.aside(`${record.name ?? record.pid}: ${heldBackText(heldBack, Date.now())}`)
}
