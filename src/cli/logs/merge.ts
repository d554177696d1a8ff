import type { LogLine } from './log-lines.ts'

/** The lines of several logs in the order of their times. Lines of one log stay in their order. */
export async function* mergedByTime<Source>(
  logs: readonly (readonly [source: Source, lines: AsyncIterable<LogLine>])[],
): AsyncGenerator<readonly [Source, LogLine], void, void> {
  const open = await Promise.all(
    logs.map(async ([source, lines]) => {
      const iterator = lines[Symbol.asyncIterator]()
      return { source, iterator, next: await iterator.next() }
    }),
  )
  while (true) {
    let first: (typeof open)[number] | undefined
    for (const log of open)
      if (
        log.next.done !== true &&
        (first === undefined || timeOf(log.next.value) < timeOf(first.next.value))
      )
        first = log
    if (first === undefined || first.next.done === true) return
    yield [first.source, first.next.value]
    first.next = await first.iterator.next()
  }
}

/** A line without a time comes at once: the one behind it may have one. */
function timeOf(line: LogLine | undefined): number {
  return line?.at ?? 0
}
