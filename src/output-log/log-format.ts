/**
 * An output log on disk: a folder of segments and an index.
 *
 * A segment is a file named by the offset of its first byte, fifteen digits: `000000000262144`. Segments follow one another
 * without overlap; where one does not begin at the end of the one before, the bytes between have fallen out: a gap. The
 * first segments hold the head of the log, which is kept; of those behind it the oldest is deleted when there are too many.
 * So the listing of the folder is the only source for the readable range.
 *
 * In `direct` mode there is one segment, which the program writes by itself, and a file `holes` with lines `from to` (decimal):
 * ranges that were freed in place, and read as zeros.
 *
 * The file `index` is a list of 16-byte entries, in order of their offsets. An entry says something of the bytes from its
 * offset on, until the next entry of its sort:
 *
 * | sort   | value                                              |
 * | time   | milliseconds since 1970 when these bytes came       |
 * | stdout, stderr | (mode `tagged`) the same, and which stream it is |
 * | text, thinking, tool_arguments, label | (live log of an agent) the same, and which stream it is |
 * | size   | the terminal has been this large since: cols × 65536 + rows |
 */
const SORTS = ['time', 'stdout', 'stderr', 'size', 'text', 'thinking', 'tool_arguments', 'label'] as const
type IndexSort = (typeof SORTS)[number]

/** The streams that the bytes of a log may belong to. */
export const STREAMS = [
  'stdout',
  'stderr',
  'text',
  'thinking',
  'tool_arguments',
  'label',
] as const satisfies readonly IndexSort[]
export type Stream = (typeof STREAMS)[number]

export interface IndexEntry {
  readonly offset: number
  readonly sort: IndexSort
  readonly value: number
}

export const ENTRY_BYTES = 16
export const INDEX_NAME = 'index'
export const HOLES_NAME = 'holes'

export function segmentName(offset: number): string {
  return String(offset).padStart(15, '0')
}

/** The offset in a segment's name; undefined if the name is no segment's. */
export function segmentOffset(name: string): number | undefined {
  return /^\d{15}$/.test(name) ? Number(name) : undefined
}

/** Little-endian: eight bytes of offset × 256 + sort, and the value as a double. */
export function encodeEntry(entry: IndexEntry, into: Buffer, at: number): void {
  into.writeBigUInt64LE(BigInt(entry.offset) * 256n + BigInt(SORTS.indexOf(entry.sort)), at)
  into.writeDoubleLE(entry.value, at + 8)
}

/** Undefined for an entry of a sort that a newer version wrote. */
export function decodeEntry(from: Buffer, at: number): IndexEntry | undefined {
  const packed = from.readBigUInt64LE(at)
  const sort = SORTS[Number(packed & 0xffn)]
  return sort === undefined
    ? undefined
    : { offset: Number(packed >> 8n), sort, value: from.readDoubleLE(at + 8) }
}
