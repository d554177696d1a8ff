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

/** Each that is followed has a connection of its own. */
const MAX_LOGS = 100

const OPTIONS = {
  follow: {
    type: 'flag',
    short: 'f',
    about: 'go on as it comes, through restarts, until the command has ended',
  },
  tail: { type: 'number', short: 'n', value: 'lines', about: 'the last ones' },
  since: { type: 'text', value: 'time', about: 'what was printed since: 5m, 12:30, 2026-03-01T12:30' },
  until: { type: 'text', value: 'time', about: 'what was printed until then' },
  timestamps: { type: 'flag', short: 't', about: 'with the local time before each line, to the second' },
  all: { type: 'flag', short: 'a', about: 'of all commands that run' },
  output: { type: 'text', short: 'o', value: 'file', about: 'into this file, which is overwritten' },
  from: { type: 'number', value: 'offset', about: 'from this byte of the output on' },
  stream: {
    type: 'text',
    value: 'stream',
    choices: ['stdout', 'stderr'],
    about: 'this one alone, of a command whose streams are kept apart',
  },
  reveal: { type: 'flag', about: 'show secrets instead of masking them; this is noted with the process' },
  raw: { type: 'flag', about: 'all escape sequences on a terminal, too, not colours alone' },
} as const

type LogsOptions = Options<typeof OPTIONS>

export const logs = subcommand({
  name: 'logs',
  summary: 'Prints what commands have printed, and goes on with -f',
  usage: ['logs [options] <process>…', 'logs [options] --all'],
  completes: 'process',
  options: OPTIONS,
  about: `
Of several commands lines are shown in the order in which they were printed, each with the name of its command before it. A command
that --restart starts again is followed under its new pid.

Times are local unless they have a zone (Z, +01:00): 12:30 is today, 2026-03-01 the beginning of that day, 5m five minutes ago;
today, yesterday and @1772368205 (seconds since 1970) are times, too.

Into a file or a pipe bytes come as they were printed. On a terminal only colours do: other escape sequences, which could set its
title or clipboard or move its cursor, are left out, and control characters are shown, unless --raw says otherwise. Secrets are
masked with *, one for each byte. What is not kept any more is a gap, which is named on standard error. With --jsonl: a line each, with its number and offset; with -f its offset and text.`,
  examples: [
    ['reeve logs web', 'all of it'],
    ['reeve logs -fn 20 web api', 'the last 20 lines of both, then what comes'],
    ['reeve logs --all -f -t', 'all that run, with times'],
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
      if (only === undefined) context.print.aside('No command runs.')
      else if (records.length === 1 && !options.timestamps && !options.all)
        await showOneLog(destination, reeve, only.pid, asked)
      else
        await showLines(destination, reeve, records, { ...asked, labels: records.length > 1 || options.all })
    } finally {
      for (const stop of stopTelling) stop()
      await destination.close()
    }
    if (!options.follow) await sayHeldBack(context, reeve, records)
    return 0
  },
})

function boundsOf({ since, until, follow }: LogsOptions) {
  if (follow && until !== undefined)
    throw new UsageError('-f goes on, and --until says where to end.', 'Give one of them.')
  const now = Date.now()
  return {
    since: since === undefined ? undefined : Math.max(0, momentOf(since, '--since', now)),
    until: until === undefined ? undefined : Math.max(0, momentOf(until, '--until', now)),
  }
}

/** A name may pass on to another process while this goes on: what counts is the process that has it now. */
async function recordsOf(context: Context<LogsOptions>, reeve: ReeveVerbs): Promise<ProcessRecord[]> {
  if (context.options.all) refuseExtraArguments(context, { name: 'logs --all' })
  const found = context.options.all
    ? (await listProcesses(reeve, { kind: ['command'] }, MAX_LOGS + 1)).map(({ record }) => record)
    : await Promise.all(requireProcesses(context, { name: 'logs' }).map((pid) => reeve.show({ pid })))
  const records = [...new Map(found.map((record) => [record.pid, record])).values()]
  if (records.length <= MAX_LOGS) return records
  throw new UsageError(
    `reeve logs shows up to ${MAX_LOGS} commands at once.`,
    'Name those that you want to see.',
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

/** Why the end of a log may be missing. */
async function sayHeldBack(
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
