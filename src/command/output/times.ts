import type { IndexEntry } from '../../output-log/log-format.ts'
import { IndexFile } from './index-file.ts'

/** When the byte at this offset came, in milliseconds since 1970, as near as the index knows; null if it knows nothing. */
export function timeOf(folder: string, offset: number): Promise<number | null> {
  return IndexFile.with(folder, async (index) => {
    if (index === null) return null
    const position = await index.lastWhere(hasTime, (entry) => entry.offset <= offset)
    return (await index.at(position))?.value ?? null
  })
}

/**
 * Where to read from, to miss nothing that came at this time or later. The index has no entry for each byte, so some that
 * came shortly before may lie behind the offset too. Where the clock was set back, times don't rise with offsets, and the
 * answer is one of several offsets.
 */
export function offsetAt(folder: string, timeMs: number): Promise<number> {
  return IndexFile.with(folder, async (index) => {
    if (index === null) return 0
    const earlier = await index.lastWhere(hasTime, (entry) => entry.value < timeMs)
    for (let position = earlier + 1; position < index.count; position++) {
      const entry = await index.at(position)
      if (entry === undefined || !hasTime(entry)) continue
      if (entry.value === timeMs) return entry.offset
      break
    }
    return (await index.at(earlier))?.offset ?? 0
  })
}

/** When the bytes between two offsets came: from each offset on until the next. The first may begin before `from`. */
export function timesBetween(
  folder: string,
  from: number,
  to: number,
): Promise<{ readonly offset: number; readonly at: number }[]> {
  return IndexFile.with(folder, async (index) => {
    const times: { offset: number; at: number }[] = []
    if (index === null) return times
    const first = await index.lastWhere(hasTime, (entry) => entry.offset <= from)
    for (let position = Math.max(0, first); position < index.count; position++) {
      const entry = await index.at(position)
      if (entry === undefined || !hasTime(entry)) continue
      if (entry.offset >= to) break
      // Streams that take turns have an entry each time.
      if (times.at(-1)?.at !== entry.value) times.push({ offset: entry.offset, at: entry.value })
    }
    return times
  })
}

function hasTime(entry: IndexEntry): boolean {
  return entry.sort !== 'size'
}
