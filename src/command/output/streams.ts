import { RefusedError } from '../../core/errors.ts'
import { refusal } from '../../core/refusal.ts'
import { type IndexEntry, STREAMS, type Stream } from '../../output-log/log-format.ts'
import { IndexFile } from './index-file.ts'
import type { Piece } from './pieces.ts'

export interface StreamStart {
  readonly offset: number
  readonly stream: Stream
}

/** The parts of a piece that came through one stream. Its bytes were read before the index, so their entries are there. */
export async function ofStream(folder: string, piece: Piece, stream: Stream): Promise<Piece[]> {
  const end = piece.offset + piece.bytes.length
  const starts = await streamsBetween(folder, piece.offset, end)
  const parts: Piece[] = []
  for (const [index, start] of starts.entries()) {
    const offset = Math.max(start.offset, piece.offset)
    const stop = Math.min(starts[index + 1]?.offset ?? end, end)
    if (start.stream !== stream || offset >= stop) continue
    const bytes = piece.bytes.subarray(offset - piece.offset, stop - piece.offset)
    parts.push({ offset, bytes, gap: null })
  }
  return parts
}

/** The stream of each of these offsets, which are in order; undefined where the log does not tell. */
export async function streamsOf(
  folder: string,
  offsets: readonly { readonly offset: number }[],
  only: Stream | undefined,
): Promise<(Stream | undefined)[]> {
  const [first] = offsets
  const last = offsets.at(-1)
  if (only !== undefined || first === undefined || last === undefined) return offsets.map(() => only)
  const starts = await streamsBetween(folder, first.offset, last.offset + 1)
  let next = 0
  return offsets.map(({ offset }) => {
    while ((starts[next]?.offset ?? Number.POSITIVE_INFINITY) <= offset) next++
    return starts[next - 1]?.stream
  })
}

/** One stream alone can be asked for only where both are kept apart. */
export async function refuseUntagged(folder: string): Promise<void> {
  const tells = await IndexFile.with(folder, async (index) => {
    if (index === null || index.count === 0) return true
    return (await index.lastWhere(isTagged, () => true)) !== -1
  })
  if (tells) return
  throw new RefusedError(
    refusal(
      'invalid_input',
      'Standard output and standard error of this process went into its log together: neither can be shown alone.',
      'Leave `stream` out, or start the process with `output: tagged`.',
    ),
  )
}

/** The stream of each run of bytes between two offsets; empty if the log does not record streams. */
export function streamsBetween(folder: string, from: number, to: number): Promise<StreamStart[]> {
  return IndexFile.with(folder, async (index) => {
    const starts: StreamStart[] = []
    if (index === null) return starts
    const first = await index.lastWhere(isTagged, (entry) => entry.offset <= from)
    for (let position = Math.max(0, first); position < index.count; position++) {
      const entry = await index.at(position)
      if (entry === undefined || !isTagged(entry)) continue
      if (entry.offset >= to) break
      if (starts.at(-1)?.stream !== entry.sort) starts.push({ offset: entry.offset, stream: entry.sort })
    }
    return starts
  })
}

const TAGS: ReadonlySet<string> = new Set(STREAMS)

function isTagged(entry: IndexEntry): entry is IndexEntry & { sort: Stream } {
  return TAGS.has(entry.sort)
}
