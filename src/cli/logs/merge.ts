import type { LogLine } from './log-lines.ts'

/** Merges the lines of several logs by time. Lines of one log stay in their order. */
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

/** A line without a time is yielded at once: the next line may have a time. */
function timeOf(line: LogLine | undefined): number {
  return line?.at ?? 0
}
