import { BoundedMap } from '../../base/bounded-map.ts'
import type { Stream } from '../../output-log/log-format.ts'
import { type Gap, type Layout, layoutOf } from './layout.ts'
import { pieces } from './pieces.ts'
import { type LineStart, NEWLINE } from './split-lines.ts'
import { ofStream } from './streams.ts'

/** Where lines can be counted from: the beginning of a block of the log. */
export interface LineIndexEntry extends LineStart {
  readonly offset: number
}

/** How many lines a log has now, and how to reach any of them without reading all before it. */
export interface LineIndex {
  readonly end: number
  readonly total: number
  readonly gaps: readonly Gap[]
  readonly entries: readonly LineIndexEntry[]
}

/**
 * Counts the retained lines, of one stream or of both. A finished segment is counted once and remembered, so that
 * this reads little more than the segment that is being written. One that vanishes before it is counted is a gap.
 */
export async function indexLines(folder: string, stream: Stream | null): Promise<LineIndex | null> {
  const layout = await layoutOf(folder)
  if (layout === null) return null
  const entries: LineIndexEntry[] = []
  const gaps: Gap[] = []
  let line = 0
  let open = false
  let end = 0

  const close = (to: number) => {
    if (to <= end) return false
    gaps.push({ from: end, to })
    if (open) line++
    open = false
    return true
  }

  for (const block of blocksOf(layout)) {
    const count = await countOf(folder, block, stream)
    if (count === null) continue
    const behindGap = close(block.from)
    entries.push({ offset: block.from, line, open, behindGap })
    line += count.newlines
    if (count.ends !== 'empty') open = count.ends === 'open'
    end = block.to
  }
  close(layout.end)
  return { end: layout.end, total: line + (open ? 1 : 0), gaps, entries }
}

interface Block extends Gap {
  /** The block is complete. */
  readonly finished: boolean
}

interface Count {
  readonly newlines: number
  /** With a newline, or with a line that goes on in the next block; `empty`: no bytes of this stream are in it. */
  readonly ends: 'newline' | 'open' | 'empty'
}

const MAX_COUNTED_BLOCKS = 8192
/** Counts of finished blocks, which never change; those that were made first go first. */
const counted = new BoundedMap<string, Count>(MAX_COUNTED_BLOCKS)

/** A log that its program writes itself is one segment of any size. */
const BLOCK_BYTES = 1024 * 1024

function* blocksOf({ segments, gaps }: Layout): Generator<Block> {
  for (const [index, { offset, size }] of segments.entries()) {
    let from = offset
    const inside = gaps.filter((gap) => gap.to > offset && gap.from < offset + size)
    for (const stop of [...inside, { from: offset + size, to: offset + size }]) {
      for (; from < stop.from; from = Math.min(from + BLOCK_BYTES, stop.from))
        yield { from, to: Math.min(from + BLOCK_BYTES, stop.from), finished: index < segments.length - 1 }
      from = stop.to
    }
  }
}

async function countOf(folder: string, block: Block, stream: Stream | null): Promise<Count | null> {
  if (!block.finished) return count(folder, block, stream)
  const key = `${folder}\0${block.from}\0${block.to}\0${stream}`
  const known = counted.get(key)
  if (known !== undefined) return known
  const made = await count(folder, block, stream)
  if (made === null) return null
  counted.set(key, made)
  return made
}

/** Null if it is gone. */
async function count(folder: string, block: Block, stream: Stream | null): Promise<Count | null> {
  let newlines = 0
  let last: number | undefined
  for await (const piece of pieces(folder, block.from, block.to)) {
    if (piece.gap !== null) return null
    for (const { bytes } of stream === null ? [piece] : await ofStream(folder, piece, stream)) {
      newlines += newlinesIn(bytes)
      last = bytes.at(-1) ?? last
    }
  }
  if (last === undefined) return { newlines, ends: 'empty' }
  return { newlines, ends: last === NEWLINE ? 'newline' : 'open' }
}

function newlinesIn(bytes: Buffer): number {
  let count = 0
  // By index: an iterator over bytes takes ten times as long.
  for (let at = 0; at < bytes.length; at++) if (bytes[at] === NEWLINE) count++
  return count
}
