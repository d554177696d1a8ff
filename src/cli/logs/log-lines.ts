import type { OutputPiece } from '../../verbs/attachment.ts'
import type { ReeveVerbs } from '../../verbs/reeve.ts'
import { LineSplitter, type SplitLine } from '../line-splitter.ts'

/** A line of a log, or a gap: bytes that are no longer kept. */
export type LogLine =
  | {
      readonly type: 'line'
      readonly offset: number
      readonly text: string
      readonly at: number | null
      /** It has no newline yet. */
      readonly isOpen: boolean
    }
  | { readonly type: 'gap'; readonly from: number; readonly to: number; readonly at: number | null }

/**
 * Splits output into lines, with the time of the first byte of each if `times` asks for that. A last line without a newline is
 * yielded when the pieces end, so a range that has an end must end its pieces there.
 */
export async function* logLines(
  reeve: ReeveVerbs,
  pid: string,
  pieces: AsyncIterable<OutputPiece>,
  { times }: { readonly times: boolean },
): AsyncGenerator<LogLine, void, void> {
  const splitter = new LineSplitter()
  let last: number | null = null
  const withTimes = async function* (
    lines: readonly SplitLine[],
    isOpen = false,
  ): AsyncGenerator<LogLine, void, void> {
    const known = times ? await timesOf(reeve, pid, lines) : []
    let next = 0
    for (const line of lines) {
      for (; (known[next]?.offset ?? Number.POSITIVE_INFINITY) <= line.offset; next++)
        last = known[next]?.at ?? last
      yield { type: 'line', ...line, at: last, isOpen }
    }
  }
  for await (const { offset, bytes, gap } of pieces) {
    if (gap !== null) {
      // The text before a gap and the text behind it are not one line.
      yield* withTimes(splitter.rest())
      yield { type: 'gap', ...gap, at: last }
    }
    yield* withTimes(splitter.take(offset, bytes))
  }
  yield* withTimes(splitter.rest(), true)
}

async function timesOf(reeve: ReeveVerbs, pid: string, lines: readonly SplitLine[]) {
  const [first] = lines
  const last = lines.at(-1)
  if (first === undefined || last === undefined) return []
  const { times } = await reeve.outputStreams({ pid, from: first.offset, to: last.offset + 1, times: true })
  return times ?? []
}

/** The pieces before `end`, without waiting for later output. */
export async function* upTo(
  pieces: AsyncIterable<OutputPiece>,
  end: number,
): AsyncGenerator<OutputPiece, void, void> {
  for await (const piece of pieces) {
    yield { ...piece, bytes: piece.bytes.subarray(0, Math.max(0, end - piece.offset)) }
    if (piece.offset + piece.bytes.length >= end) return
  }
}
