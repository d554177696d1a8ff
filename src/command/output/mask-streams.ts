import { STREAMS, type Stream } from '../../output-log/log-format.ts'
import type { Masked, Masker, Stretch } from '../../redaction/masker.ts'

/** The start of a run of bytes of one stream; `at` is relative to the beginning of the range. */
export interface PartStart {
  readonly at: number
  readonly stream: Stream
}

/**
 * Masks a stretch of a tagged log, each stream by itself: interleaved pieces of one stream are one text
 * for a reader of that stream alone. Answers as `Masker.stretch` does.
 */
export function maskStreams(masker: Masker, stretch: Stretch, starts: readonly PartStart[]): Masked {
  if (new Set(starts.map(({ stream }) => stream)).size < 2) return masker.stretch(stretch)
  const { bytes, from, to } = stretch
  const parts = partsOf(bytes.length, starts)
  const each = STREAMS.map((stream) =>
    maskOne(
      masker,
      stretch,
      parts.filter((part) => part.stream === stream),
    ),
  )
  return {
    decided: Math.max(0, Math.min(to, ...each.map(({ undecided }) => undecided)) - from),
    isClean: each.every(({ isClean }) => isClean),
  }
}

interface Part {
  readonly from: number
  readonly to: number
  readonly stream: Stream
}

function partsOf(length: number, starts: readonly PartStart[]): Part[] {
  return starts.map(({ at, stream }, index) => ({
    // Bytes before the first known part belong to it.
    from: index === 0 ? 0 : at,
    to: starts[index + 1]?.at ?? length,
    stream,
  }))
}

/** Masks the parts of one stream, in place. `undecided`: from there on more may change them. */
function maskOne(
  masker: Masker,
  { bytes, from, to, ...how }: Stretch,
  parts: readonly Part[],
): { readonly undecided: number; readonly isClean: boolean } {
  const own = Buffer.concat(parts.map((part) => bytes.subarray(part.from, part.to)))
  const before = (offset: number) =>
    parts.reduce((sum, part) => sum + Math.max(0, Math.min(part.to, offset) - part.from), 0)
  const wanted = { from: before(from), to: before(to) }
  const { decided, isClean } = masker.stretch({ bytes: own, ...wanted, ...how })
  let at = 0
  let undecided = Number.POSITIVE_INFINITY
  for (const part of parts) {
    const length = part.to - part.from
    own.copy(bytes, part.from, at, at + length)
    const open = wanted.from + decided - at
    if (wanted.from + decided < wanted.to && open >= 0 && open < length)
      undecided = Math.min(undecided, part.from + open)
    at += length
  }
  return { undecided, isClean }
}
