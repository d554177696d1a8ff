import { type FileHandle, open } from 'node:fs/promises'
import { join } from 'node:path'
import { segmentName } from '../../output-log/log-format.ts'
import { holesOf } from './holes.ts'
import { type Gap, joined, MAX_LISTINGS, segmentOffsets, segmentSize, unsteady } from './layout.ts'
import { orMissing } from './missing.ts'

/** Bytes of one stretch of a log; never across a gap. */
export interface Chunk {
  /** Where `bytes` begin: where they were asked for, or behind the gap that lay there. */
  readonly offset: number
  readonly bytes: Buffer
  /** Where to go on. */
  readonly next: number
  /** The missing bytes between the requested offset and `offset`. */
  readonly gap: Gap | null
  /** How long the log was, as this was read. */
  readonly end: number
}

/**
 * Bytes of an output log as they are on disk, unmasked.
 *
 * The keeper writes and deletes at the same time. A segment that is gone when it is opened has become a gap, and the folder is
 * listed again; an open one can be read to its end.
 */
export async function rawRange(folder: string, from: number, maxBytes: number): Promise<Chunk> {
  for (let listing = 0; listing < MAX_LISTINGS; listing++) {
    const chunk = await attempt(folder, from, maxBytes)
    if (chunk !== null) return chunk
  }
  throw unsteady(folder)
}

/** Null if the listing was out of date. */
async function attempt(folder: string, from: number, maxBytes: number): Promise<Chunk | null> {
  const offsets = await segmentOffsets(folder)
  const last = offsets?.at(-1)
  if (offsets === null || last === undefined) return nothingAt(0)
  const lastSize = await segmentSize(folder, last)
  if (lastSize === null) return null
  const end = last + lastSize
  if (from >= end) return nothingAt(end)

  const own = offsets.findLastIndex((offset) => offset <= from)
  if (offsets.length === 1 && own === 0) return readAroundHoles(folder, last, from, maxBytes, end)
  const found = own === -1 ? NOTHING : await readSegment(folder, offsets, own, from, maxBytes)
  if (found === null) return null
  if (found.length > 0) return chunkOf(from, from, found, end)

  const following = offsets[own + 1]
  if (following === undefined) return nothingAt(from)
  const behind = await readSegment(folder, offsets, own + 1, following, maxBytes)
  return behind === null ? null : chunkOf(from, following, behind, end)
}

/** A log of one segment may have holes. The bytes count only if they are not in a hole afterwards. */
async function readAroundHoles(
  folder: string,
  segment: number,
  from: number,
  maxBytes: number,
  end: number,
): Promise<Chunk | null> {
  const before = joined(await holesOf(folder, end))
  const at = before.find((hole) => hole.from <= from && from < hole.to)?.to ?? from
  const stop = before.find((hole) => hole.from > at)?.from ?? end
  const bytes = await readSegment(folder, [segment], 0, at, Math.min(maxBytes, stop - at))
  if (bytes === null) return null
  const after = await holesOf(folder, end)
  const isHole = after.some((hole) => hole.from < at + bytes.length && at < hole.to)
  return isHole ? null : chunkOf(from, at, bytes, end)
}

/** The bytes from `from` on in the segment at `index`, at most to where the next one begins; null if it is gone. */
async function readSegment(
  folder: string,
  offsets: readonly number[],
  index: number,
  from: number,
  maxBytes: number,
): Promise<Buffer | null> {
  const offset = offsets[index] ?? 0
  const file = await orMissing(open(join(folder, segmentName(offset))))
  if (file === null) return null
  try {
    const { size } = await file.stat()
    const to = Math.min(offset + size, offsets[index + 1] ?? Number.POSITIVE_INFINITY, from + maxBytes)
    return to <= from ? NOTHING : await filled(file, Buffer.allocUnsafe(to - from), from - offset)
  } finally {
    await file.close()
  }
}

/** Fewer bytes if the file is shorter: a program that writes its log itself may have truncated it. */
async function filled(file: FileHandle, buffer: Buffer, position: number): Promise<Buffer> {
  let length = 0
  while (length < buffer.length) {
    const { bytesRead } = await file.read(buffer, length, buffer.length - length, position + length)
    if (bytesRead === 0) break
    length += bytesRead
  }
  return buffer.subarray(0, length)
}

function chunkOf(asked: number, offset: number, bytes: Buffer, end: number): Chunk {
  const next = offset + bytes.length
  const gap = offset > asked ? { from: asked, to: offset } : null
  return { offset, bytes, next, gap, end: Math.max(end, next) }
}

function nothingAt(offset: number): Chunk {
  return { offset, bytes: NOTHING, next: offset, gap: null, end: offset }
}

export const NOTHING = Buffer.alloc(0)
