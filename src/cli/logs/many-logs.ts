import type { ReeveVerbs } from '../../verbs/reeve.ts'
import { displayWidth } from '../print/display-width.ts'
import type { ProcessRecord } from '../print/status.ts'
import type { Destination } from './export-file.ts'
import { followRestarts } from './follow-restarts.ts'
import { LinePrinter, type ShownLog } from './line-printer.ts'
import { type LogLine, logLines, upTo } from './log-lines.ts'
import { mergedByTime } from './merge.ts'
import type { OneLogOptions } from './one-log.ts'
import { type Range, rangeOf } from './range.ts'
import { ofStream } from './stream-pieces.ts'

interface ManyLogsOptions extends OneLogOptions {
  readonly timestamps: boolean
  /** Each line begins with the name of its process. */
  readonly labels: boolean
}

interface Log extends ShownLog {
  readonly pid: string
  readonly range: Range
}

/** Prints the lines of one or several logs: existing ones in the order of their times, new ones as they come. */
export async function showLines(
  { around, print }: Destination,
  reeve: ReeveVerbs,
  records: readonly ProcessRecord[],
  options: ManyLogsOptions,
): Promise<void> {
  const { reveal, stream, follow, timestamps } = options
  const logs: readonly Log[] = await Promise.all(
    records.map(async ({ pid, name }, index) => ({
      pid,
      index,
      label: name ?? pid,
      range: await rangeOf(reeve, pid, options),
    })),
  )
  const printer = new LinePrinter(print, {
    labelWidth: options.labels ? Math.max(0, ...logs.map(({ label }) => displayWidth(label))) : null,
    timestamps,
    isRaw: options.raw || around.stdout.isTTY !== true,
  })
  const resumeAt = new Map(logs.map((log) => [log, Math.max(log.range.from, log.range.end)]))
  const history = logs.map((log) => [log, linesIn(reeve, log, options)] as const)
  for await (const [log, line] of mergedByTime(history)) {
    // More of this line may come: it is printed when it is whole.
    if (follow && line.type === 'line' && line.isOpen) resumeAt.set(log, line.offset)
    else printer.show(log, log.pid, line)
  }
  if (!follow) return
  await Promise.all(
    logs.map(async (log) => {
      const from = resumeAt.get(log) ?? 0
      const onRestart = (message: string) => print.aside(message)
      for await (const { pid, pieces } of followRestarts(reeve, log.pid, { from, reveal, onRestart }))
        for await (const line of logLines(reeve, pid, ofStream(reeve, pid, pieces, stream), {
          times: timestamps,
        }))
          printer.show(log, pid, line)
    }),
  )
}

async function* linesIn(
  reeve: ReeveVerbs,
  { pid, range }: Log,
  { reveal, stream }: ManyLogsOptions,
): AsyncGenerator<LogLine, void, void> {
  if (range.from >= range.end) return
  const pieces = upTo(reeve.followOutput({ pid, offset: range.from, reveal }), range.end)
  yield* logLines(reeve, pid, ofStream(reeve, pid, pieces, stream), { times: true })
}
