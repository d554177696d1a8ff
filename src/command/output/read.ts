import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { segmentName } from '../../output-log/log-format.ts'
import { LOOK_AHEAD_BYTES, LOOK_BACK_BYTES } from '../../redaction/masker.ts'
import { segmentOffsets } from './layout.ts'
import { maskStreams, type PartStart } from './mask-streams.ts'
import type { Masking } from './masking.ts'
import { orMissing } from './missing.ts'
import { type Chunk, NOTHING, rawRange } from './raw-range.ts'
import { streamsBetween } from './streams.ts'

/**
 * The one way to the bytes of an output log: every reader, search and follower gets them here, with secrets masked. A null
 * masking shows secrets: to a person at a terminal, and to a caller with the right who asks for it.
 *
 * To recognise secrets, some bytes before and behind are read, too. At the end of a growing log, a possible beginning of a secret
 * is held back for a moment; the log then counts as ending before it.
 */
export async function readRange(
  folder: string,
  from: number,
  maxBytes: number,
  masking: Masking | null = null,
): Promise<Chunk> {
  if (masking === null) return rawRange(folder, from, maxBytes)
  const known = await cleanRange(folder, from, maxBytes, masking)
  if (known !== null) return known
  const found = await around(folder, from, maxBytes)
  if (found.bytes.length === 0) return found.chunk
  const { chunk, bytes, start } = found
  const wanted = Math.min(bytes.length - start, chunk.bytes.length, maxBytes)
  const open = !masking.final && chunk.offset + bytes.length - start >= chunk.end
  const stretch = { bytes, from: start, to: start + wanted, clean: found.clean, open }
  const starts = masking.tagged ? await startsIn(folder, chunk.offset - start, bytes.length) : []
  const { decided, isClean } = maskStreams(masking.masker, stretch, starts)
  // The next bytes may turn the bytes close to the end into a secret, even after the end of the process.
  const settled = Math.min(wanted, bytes.length - start - LOOK_AHEAD_BYTES)
  if (isClean && settled > 0)
    masking.cleanRanges?.add(masking.masker, folder, chunk.offset, chunk.offset + settled)
  const undecided = chunk.offset + decided
  const isHeld = decided < wanted && !masking.mayShow(folder, undecided, await writtenAt(folder))
  const shown = bytes.subarray(start, start + (isHeld ? decided : wanted))
  const next = chunk.offset + shown.length
  return { ...chunk, bytes: shown, next, end: isHeld ? next : chunk.end }
}

/** Only if the whole page is in a clean range, so that page borders do not depend on which ranges were scanned before. */
async function cleanRange(
  folder: string,
  from: number,
  maxBytes: number,
  { masker, cleanRanges }: Masking,
): Promise<Chunk | null> {
  const reach = cleanRanges?.reach(masker, folder, from) ?? from
  if (reach < from + maxBytes) return null
  const chunk = await rawRange(folder, from, maxBytes)
  return chunk.gap === null && chunk.bytes.length > 0 ? chunk : null
}

/** Of the streams. The bytes were read before the index, so their entries are there. */
async function startsIn(folder: string, first: number, length: number): Promise<PartStart[]> {
  const starts = await streamsBetween(folder, first, first + length)
  return starts.map(({ offset, stream }) => ({ at: Math.max(0, offset - first), stream }))
}

interface Around {
  /** At least the requested range. */
  readonly chunk: Chunk
  /** The chunk with its context on both sides. */
  readonly bytes: Buffer
  /** Where it begins in there. */
  readonly start: number
  /** Nothing lies before the first of `bytes`, or nothing that is retained. */
  readonly clean: boolean
}

/** Mostly one read; where a segment ends or a gap lies close by, some more. */
async function around(folder: string, from: number, maxBytes: number): Promise<Around> {
  const back = Math.min(from, LOOK_BACK_BYTES)
  const whole = await rawRange(folder, from - back, back + maxBytes + LOOK_AHEAD_BYTES)
  if (whole.gap === null && whole.bytes.length > back) {
    const bytes = whole.bytes.subarray(back)
    const chunk = { ...whole, offset: from, bytes }
    return ahead(folder, maxBytes, { chunk, bytes: whole.bytes, start: back, clean: from === back })
  }
  const chunk = await rawRange(folder, from, maxBytes + LOOK_AHEAD_BYTES)
  if (chunk.bytes.length === 0) return { chunk, bytes: chunk.bytes, start: 0, clean: true }
  const before = chunk.gap === null ? await bytesBefore(folder, chunk.offset) : NOTHING
  return ahead(folder, maxBytes, {
    chunk,
    bytes: before.length === 0 ? chunk.bytes : Buffer.concat([before, chunk.bytes]),
    start: before.length,
    clean: before.length < Math.min(chunk.offset, LOOK_BACK_BYTES) || chunk.offset <= LOOK_BACK_BYTES,
  })
}

/** A segment that ends too soon is looked ahead of into those that follow. */
async function ahead(folder: string, maxBytes: number, found: Around): Promise<Around> {
  const { chunk } = found
  const wanted = chunk.offset + Math.min(maxBytes, chunk.bytes.length) + LOOK_AHEAD_BYTES
  const more: Buffer[] = []
  let reached = chunk.offset + chunk.bytes.length
  let { end } = chunk
  while (reached < wanted && reached < end) {
    const next = await rawRange(folder, reached, wanted - reached)
    if (next.gap !== null || next.bytes.length === 0) break
    more.push(next.bytes)
    reached = next.next
    end = next.end
  }
  if (more.length === 0) return found
  return { ...found, chunk: { ...chunk, end }, bytes: Buffer.concat([found.bytes, ...more]) }
}

/** The retained bytes right before an offset, without a gap in between. */
async function bytesBefore(folder: string, offset: number): Promise<Buffer> {
  let parts: Buffer[] = []
  let at = Math.max(0, offset - LOOK_BACK_BYTES)
  while (at < offset) {
    const part = await rawRange(folder, at, offset - at)
    if (part.bytes.length === 0 || part.offset >= offset) return NOTHING
    if (part.gap !== null) parts = []
    parts.push(part.bytes)
    at = part.next
  }
  return Buffer.concat(parts)
}

/** When something was last written to the log; 0 if it is gone. */
async function writtenAt(folder: string): Promise<number> {
  const last = (await segmentOffsets(folder))?.at(-1)
  const found = last === undefined ? null : await orMissing(stat(join(folder, segmentName(last))))
  return found?.mtimeMs ?? 0
}
