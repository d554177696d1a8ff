import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { segmentName, segmentOffset } from '../../output-log/log-format.ts'
import { holesOf } from './holes.ts'
import { orMissing } from './missing.ts'

/** Bytes of a log that can't be read any more, `to` not included. */
export interface Gap {
  readonly from: number
  readonly to: number
}

interface Segment {
  readonly offset: number
  readonly size: number
}

/** The readable parts of an output log at this moment. */
export interface Layout {
  readonly segments: readonly Segment[]
  /** Offsets count from the first byte that was ever written, whether it is still retained or not. */
  readonly start: 0
  readonly end: number
  readonly gaps: readonly Gap[]
}

/** Null if there is no log: no program was ever started under this pid, or its output was dropped. */
export async function layoutOf(folder: string): Promise<Layout | null> {
  for (let listing = 0; listing < MAX_LISTINGS; listing++) {
    const offsets = await segmentOffsets(folder)
    if (offsets === null) return null
    const segments = await sizedSegments(folder, offsets)
    if (segments === null) continue
    const last = segments.at(-1)
    const end = last === undefined ? 0 : last.offset + last.size
    const holes = segments.length === 1 ? await holesOf(folder, end) : []
    return { segments, start: 0, end, gaps: joined([...gapsBetween(segments), ...holes]) }
  }
  throw unsteady(folder)
}

/** Where a log ends now, by its last segment alone; null if there is no log. */
export async function logEnd(folder: string): Promise<number | null> {
  for (let listing = 0; listing < MAX_LISTINGS; listing++) {
    const offsets = await segmentOffsets(folder)
    if (offsets === null) return null
    const last = offsets.at(-1)
    if (last === undefined) return 0
    const size = await segmentSize(folder, last)
    if (size !== null) return last + size
  }
  throw unsteady(folder)
}

/**
 * The offsets of all segments, rising; null where there is no folder.
 *
 * A segment is made after those before it, so in a listing that is taken at one moment a missing one has been deleted. The
 * system reads a few hundred names at one moment. With more, one that is made meanwhile may be listed and its predecessor
 * not: then a second listing counts, up to the last segment of the first.
 */
export async function segmentOffsets(folder: string): Promise<number[] | null> {
  for (let listing = 0; listing < MAX_LISTINGS; listing++) {
    const offsets = await listed(folder)
    if (offsets === null || offsets.length <= NAMES_AT_ONE_MOMENT) return offsets
    const last = offsets.at(-1) ?? 0
    const again = (await listed(folder))?.filter((offset) => offset <= last)
    if (again === undefined) return null
    if (again.at(-1) === last) return again
  }
  throw unsteady(folder)
}

/** How large a segment is; null if it has been deleted. */
export async function segmentSize(folder: string, offset: number): Promise<number | null> {
  const found = await orMissing(stat(join(folder, segmentName(offset))))
  return found === null ? null : found.size
}

/** Gaps in order, those that touch made one. */
export function joined(gaps: readonly Gap[]): Gap[] {
  const whole: Gap[] = []
  for (const gap of [...gaps].sort((one, other) => one.from - other.from)) {
    const before = whole.at(-1)
    if (before !== undefined && gap.from <= before.to)
      whole[whole.length - 1] = { from: before.from, to: Math.max(before.to, gap.to) }
    else whole.push(gap)
  }
  return whole
}

/** A log that rotates between every two listings would be faster than any disk: something else is wrong. */
export function unsteady(folder: string): Error {
  return new Error(
    `The output log ${folder} changed during each of ${MAX_LISTINGS} looks at it. Try again; if this stays so, ` +
      'something other than the keeper deletes files there.',
  )
}

export const MAX_LISTINGS = 64

/** A directory entry of a segment takes 40 bytes, and 32 KiB of them are read with one call. */
const NAMES_AT_ONE_MOMENT = 500

async function listed(folder: string): Promise<number[] | null> {
  const names = await orMissing(readdir(folder))
  if (names === null) return null
  const offsets = names.map(segmentOffset).filter((offset) => offset !== undefined)
  return offsets.sort((one, other) => one - other)
}

/**
 * Reads the last segment first: it must exist, since it alone determines the end of the log. Null if it is not. Any
 * other may be gone by now, and is a gap then.
 */
async function sizedSegments(folder: string, offsets: readonly number[]): Promise<Segment[] | null> {
  const last = offsets.at(-1)
  if (last === undefined) return []
  const lastSize = await segmentSize(folder, last)
  if (lastSize === null) return null
  const segments: Segment[] = []
  for (const [index, offset] of offsets.entries()) {
    const next = offsets[index + 1]
    if (next === undefined) segments.push({ offset, size: lastSize })
    else {
      const size = await segmentSize(folder, offset)
      if (size !== null) segments.push({ offset, size: Math.min(size, next - offset) })
    }
  }
  return segments
}

function gapsBetween(segments: readonly Segment[]): Gap[] {
  const gaps: Gap[] = []
  let end = 0
  for (const { offset, size } of segments) {
    if (offset > end) gaps.push({ from: end, to: offset })
    end = offset + size
  }
  return gaps
}
