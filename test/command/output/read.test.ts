import { appendFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { layoutOf } from '../../../src/command/output/layout.ts'
import { readRange } from '../../../src/command/output/read.ts'
import { tempFolder } from '../../temp-folder.ts'
import { countingBytes, LogWriter, seeded } from './log-writer.ts'

const SMALL = { headBytes: 20, tailBytes: 40, segmentBytes: 20 }

test('a log that is not there has no layout, and reads as an empty one', async () => {
  const folder = join(tempFolder(), 'nowhere')
  expect(await layoutOf(folder)).toBe(null)
  expect(await readRange(folder, 7, 100)).toEqual({
    offset: 0,
    bytes: Buffer.alloc(0),
    next: 0,
    gap: null,
    end: 0,
  })
})

test('an empty log ends at 0', async () => {
  const { folder } = new LogWriter(tempFolder())
  expect(await layoutOf(folder)).toEqual({ segments: [{ offset: 0, size: 0 }], start: 0, end: 0, gaps: [] })
})

test('the layout names the head, the tail, and the gap between', async () => {
  const { folder } = new LogWriter(tempFolder(), SMALL).write(countingBytes(0, 130))
  expect(await layoutOf(folder)).toEqual({
    segments: [
      { offset: 0, size: 20 },
      { offset: 80, size: 20 },
      { offset: 100, size: 20 },
      { offset: 120, size: 10 },
    ],
    start: 0,
    end: 130,
    gaps: [{ from: 20, to: 80 }],
  })
})

test('a log whose head was dropped begins with a gap', async () => {
  const { folder } = new LogWriter(tempFolder(), { ...SMALL, headBytes: 0 }).write(countingBytes(0, 130))
  expect(await layoutOf(folder)).toMatchObject({ end: 130, gaps: [{ from: 0, to: 80 }] })
  expect(await readRange(folder, 0, 5)).toMatchObject({ offset: 80, next: 85, gap: { from: 0, to: 80 } })
})

test('files that are no segments are not taken for any', async () => {
  const { folder } = new LogWriter(tempFolder()).write('abc').note('time', 5)
  writeFileSync(join(folder, '12'), 'x')
  writeFileSync(join(folder, '000000000000003.tmp'), 'x')
  expect(await layoutOf(folder)).toMatchObject({ end: 3, segments: [{ offset: 0, size: 3 }] })
})

test('a read returns at most the requested bytes, and the next offset', async () => {
  const { folder } = new LogWriter(tempFolder()).write('hello world')
  const chunk = await readRange(folder, 6, 3)
  expect(chunk).toEqual({ offset: 6, bytes: Buffer.from('wor'), next: 9, gap: null, end: 11 })
})

test('a read behind the end gives nothing, at the end', async () => {
  const { folder } = new LogWriter(tempFolder()).write('hello')
  for (const from of [5, 6, 500])
    expect(await readRange(folder, from, 3)).toMatchObject({ offset: 5, next: 5, gap: null, end: 5 })
})

test('a read within a gap begins behind it and reports the gap', async () => {
  const { folder } = new LogWriter(tempFolder(), SMALL).write(countingBytes(0, 130))
  const chunk = await readRange(folder, 33, 1000)
  expect(chunk).toMatchObject({ offset: 80, next: 100, gap: { from: 33, to: 80 }, end: 130 })
  expect(chunk.bytes).toEqual(countingBytes(80, 100))
})

test('a chunk ends where a gap begins', async () => {
  const { folder } = new LogWriter(tempFolder(), SMALL).write(countingBytes(0, 130))
  expect(await readRange(folder, 15, 1000)).toMatchObject({ offset: 15, next: 20, gap: null })
  expect(await readRange(folder, 20, 1000)).toMatchObject({ offset: 80, gap: { from: 20, to: 80 } })
})

test('a gap that reaches to an empty last segment is named, with nothing behind it', async () => {
  const log = new LogWriter(tempFolder(), SMALL).write(countingBytes(0, 40))
  writeFileSync(join(log.folder, '000000000000040'), '')
  log.drop(20)
  expect(await readRange(log.folder, 20, 10)).toMatchObject({
    offset: 40,
    next: 40,
    gap: { from: 20, to: 40 },
    end: 40,
  })
})

test('segments that overlap give no byte twice', async () => {
  const folder = tempFolder()
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, '000000000000000'), 'abcdef')
  writeFileSync(join(folder, '000000000000004'), 'efgh')
  expect(await layoutOf(folder)).toMatchObject({ end: 8, gaps: [], segments: [{ size: 4 }, { size: 4 }] })
  expect((await readRange(folder, 0, 100)).bytes.toString()).toBe('abcd')
  expect((await readRange(folder, 4, 100)).bytes.toString()).toBe('efgh')
})

test('a segment that is shorter than it should be leaves a gap', async () => {
  const folder = tempFolder()
  writeFileSync(join(folder, '000000000000000'), 'abc')
  writeFileSync(join(folder, '000000000000005'), 'fgh')
  expect(await layoutOf(folder)).toMatchObject({ end: 8, gaps: [{ from: 3, to: 5 }] })
  expect(await readRange(folder, 3, 100)).toMatchObject({ offset: 5, gap: { from: 3, to: 5 } })
})

test('holes of a log that its program writes itself are gaps, and never zeros', async () => {
  const log = new LogWriter(tempFolder(), { headBytes: 1 << 30 }).write(countingBytes(0, 100))
  log.punch(20, 40).punch(40, 60)
  expect(await layoutOf(log.folder)).toMatchObject({ end: 100, gaps: [{ from: 20, to: 60 }] })
  expect(await readRange(log.folder, 10, 100)).toMatchObject({ offset: 10, next: 20, gap: null })
  const behind = await readRange(log.folder, 25, 100)
  expect(behind).toMatchObject({ offset: 60, next: 100, gap: { from: 25, to: 60 } })
  expect(behind.bytes).toEqual(countingBytes(60, 100))
})

test('a line of the holes that is not written to its end frees nothing yet', async () => {
  const log = new LogWriter(tempFolder()).write('0123456789')
  appendFileSync(join(log.folder, 'holes'), '2 4')
  expect(await layoutOf(log.folder)).toMatchObject({ gaps: [] })
  appendFileSync(join(log.folder, 'holes'), '\n')
  expect(await layoutOf(log.folder)).toMatchObject({ gaps: [{ from: 2, to: 4 }] })
})

test('a folder with thousands of segments is listed whole', async () => {
  const { folder } = new LogWriter(tempFolder(), { headBytes: 0, segmentBytes: 10 }).write(
    countingBytes(0, 20_000),
  )
  const layout = await layoutOf(folder)
  expect(layout?.segments.length).toBe(2000)
  expect(layout?.gaps).toEqual([])
})

test.each([1, 2, 3, 4])(
  'readers of a log that rotates under them see no wrong byte and miss no gap (seed %i)',
  async (seed) => {
    const random = seeded(seed)
    for (let round = 0; round < 60; round++) {
      const segmentBytes = 1 + random(300)
      const log = new LogWriter(tempFolder(), {
        headBytes: random(3) * 100,
        segmentBytes,
        tailBytes: segmentBytes * (1 + random(4)),
      })
      const finalEnd = 500 + random(6000)
      await Promise.all([writing(log, finalEnd, random), reading(log, finalEnd, 1 + random(500))])
    }
  },
)

async function writing(log: LogWriter, finalEnd: number, random: (below: number) => number) {
  while (log.end < finalEnd) {
    log.write(countingBytes(log.end, Math.min(finalEnd, log.end + 1 + random(400))))
    if (random(3) === 0) await new Promise(setImmediate)
  }
}

/** Reads to the end: bytes and reported gaps must cover the whole log, in order. */
async function reading(log: LogWriter, finalEnd: number, maxBytes: number) {
  let at = 0
  while (at < finalEnd) {
    const { offset, bytes, next, gap, end } = await readRange(log.folder, at, maxBytes)
    expect(gap).toEqual(offset > at ? { from: at, to: offset } : null)
    expect(offset).toBeGreaterThanOrEqual(at)
    expect(bytes.length).toBeLessThanOrEqual(maxBytes)
    expect(bytes.equals(countingBytes(offset, next))).toBe(true)
    expect(end).toBeGreaterThanOrEqual(next)
    at = next
    const layout = await layoutOf(log.folder)
    const kept = layout?.segments.reduce((sum, { size }) => sum + size, 0) ?? 0
    const missing = layout?.gaps.reduce((sum, { from, to }) => sum + to - from, 0) ?? 0
    expect(kept + missing).toBe(layout?.end)
    expect(layout?.end).toBeGreaterThanOrEqual(end)
  }
}

test('holes that are made while a log is read are never read as zeros', async () => {
  const random = seeded(7)
  for (let round = 0; round < 100; round++) {
    const log = new LogWriter(tempFolder(), { headBytes: 1 << 30 }).write(countingBytes(0, 4000))
    const punching = (async () => {
      for (let at = 100; at < 3500; ) {
        const to = at + 1 + random(300)
        log.punch(at, to)
        at = to
        if (random(2) === 0) await new Promise(setImmediate)
      }
    })()
    for (let at = 0; at < 4000; ) {
      const { offset, bytes, next, gap } = await readRange(log.folder, at, 1 + random(700))
      expect(gap).toEqual(offset > at ? { from: at, to: offset } : null)
      expect(bytes.equals(countingBytes(offset, next))).toBe(true)
      at = next
    }
    await punching
  }
})

test('a log that is deleted as a whole while it is read ends, and throws nothing', async () => {
  const random = seeded(11)
  for (let round = 0; round < 50; round++) {
    const log = new LogWriter(tempFolder(), SMALL).write(countingBytes(0, 60))
    const reads = Array.from({ length: 8 }, () => readRange(log.folder, random(60), 10))
    rmSync(log.folder, { recursive: true })
    for (const { offset, bytes, next } of await Promise.all(reads))
      expect(bytes.equals(countingBytes(offset, next))).toBe(true)
  }
})
