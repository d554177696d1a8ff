import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type LinesOptions, readLines } from '../../../src/command/output/lines.ts'
import { tempFolder } from '../../temp-folder.ts'
import { countingBytes, LogWriter, seeded } from './log-writer.ts'

const ALL: LinesOptions = { from: 'start', offset: 0, limit: 10_000, ansi: 'keep', ended: true }
const LAST: LinesOptions = { ...ALL, from: 'end' }
const SMALL = { headBytes: 20, tailBytes: 40, segmentBytes: 20 }

test('without a log there are no lines', async () => {
  const nothing = { lines: [], total: 0, truncated: [], next: null, previous: null }
  expect(await readLines(join(tempFolder(), 'nowhere'), ALL)).toEqual(nothing)
  expect(await readLines(new LogWriter(tempFolder()).folder, ALL)).toEqual(nothing)
})

test('lines are numbered from 0 and know the offset of their first byte', async () => {
  const { folder } = new LogWriter(tempFolder()).write('one\n\nthrée\nfour')
  expect(await readLines(folder, ALL)).toEqual({
    lines: [
      { number: 0, offset: 0, text: 'one' },
      { number: 1, offset: 4, text: '' },
      { number: 2, offset: 5, text: 'thrée' },
      { number: 3, offset: 12, text: 'four' },
    ],
    total: 4,
    truncated: [],
    next: null,
    previous: null,
  })
})

test('a newline at the end begins no further line', async () => {
  const { folder } = new LogWriter(tempFolder()).write('one\ntwo\n')
  expect((await readLines(folder, ALL)).total).toBe(2)
})

test('the carriage return of a terminal ends a line with its newline', async () => {
  const { folder } = new LogWriter(tempFolder()).write('one\r\n50%\r100%\r\nthree\r')
  expect((await readLines(folder, ALL)).lines.map(({ text }) => text)).toEqual([
    'one',
    '50%\r100%',
    'three\r',
  ])
})

test('pages follow one another from the start', async () => {
  const { folder } = new LogWriter(tempFolder()).write('0\n1\n2\n3\n4\n')
  const page = async (offset: number) => {
    const { lines, next, previous, total } = await readLines(folder, { ...ALL, offset, limit: 2 })
    return { texts: lines.map(({ text }) => text), next, previous, total }
  }
  expect(await page(0)).toEqual({ texts: ['0', '1'], next: 2, previous: null, total: 5 })
  expect(await page(2)).toEqual({ texts: ['2', '3'], next: 4, previous: 0, total: 5 })
  expect(await page(4)).toEqual({ texts: ['4'], next: null, previous: 2, total: 5 })
  expect(await page(9)).toEqual({ texts: [], next: null, previous: 3, total: 5 })
})

test('pages from the end give the last lines, in their order', async () => {
  const { folder } = new LogWriter(tempFolder()).write('0\n1\n2\n3\n4\n')
  const page = async (offset: number) => {
    const { lines, next, previous } = await readLines(folder, { ...LAST, offset, limit: 2 })
    return { texts: lines.map(({ text }) => text), next, previous }
  }
  expect(await page(0)).toEqual({ texts: ['3', '4'], next: null, previous: 1 })
  expect(await page(2)).toEqual({ texts: ['1', '2'], next: 3, previous: 0 })
  expect(await page(4)).toEqual({ texts: ['0'], next: 1, previous: null })
  expect(await page(5)).toEqual({ texts: [], next: null, previous: 3 })
})

test('lines on both sides of a gap are marked as partial, and the gap is named', async () => {
  const log = new LogWriter(tempFolder(), SMALL).write('first\nbroken off her')
  log.write('e: twenty bytes lost').write('till here\nlast one\n').drop(20)
  const { lines, total, truncated } = await readLines(log.folder, ALL)
  expect(truncated).toEqual([{ from: 20, to: 40 }])
  expect(lines).toEqual([
    { number: 0, offset: 0, text: 'first' },
    { number: 1, offset: 6, text: 'broken off her', partial: true },
    { number: 2, offset: 40, text: 'till here', partial: true },
    { number: 3, offset: 50, text: 'last one' },
  ])
  expect(total).toBe(4)
  expect((await readLines(log.folder, { ...LAST, limit: 2 })).lines).toEqual(lines.slice(2))
})

test('a line that ends just before a gap is whole', async () => {
  const { folder } = new LogWriter(tempFolder(), SMALL).write(countingBytes(0, 130))
  const { lines, total } = await readLines(folder, ALL)
  expect(total).toBe(7)
  expect(lines.map(({ text, partial }) => [text, partial])).toEqual([
    ['000000000', undefined],
    ['000000001', undefined],
    ['000000008', true],
    ...['000000009', '000000010', '000000011', '000000012'].map((text) => [text, undefined]),
  ])
})

test('a line of more than 64 KiB is cut between two characters, and the next one is whole', async () => {
  const { folder } = new LogWriter(tempFolder()).write(`a${'é'.repeat(50_000)}\nnext\n`)
  const { lines, total } = await readLines(folder, ALL)
  expect(total).toBe(2)
  expect(lines[0]).toMatchObject({ number: 0, cut: true, text: `a${'é'.repeat(32_767)}` })
  expect(lines[1]).toEqual({ number: 1, offset: 100_002, text: 'next' })
})

test('half a character at the end of the last line waits while the process runs', async () => {
  const { folder } = new LogWriter(tempFolder()).write(Buffer.from('x\na漢').subarray(0, 4))
  expect((await readLines(folder, { ...ALL, ended: false })).lines[1]?.text).toBe('a')
  expect((await readLines(folder, ALL)).lines[1]?.text).toBe('a\ufffd')
})

test('escape sequences are kept or stripped as asked', async () => {
  const { folder } = new LogWriter(tempFolder()).write('\x1b[31mred\x1b[0m\n')
  expect((await readLines(folder, ALL)).lines[0]?.text).toBe('\x1b[31mred\x1b[0m')
  expect((await readLines(folder, { ...ALL, ansi: 'strip' })).lines[0]?.text).toBe('red')
})

test('lines that are written later are added to the count', async () => {
  const log = new LogWriter(tempFolder(), SMALL)
  for (let line = 0; line < 30; line++) {
    log.write(countingBytes(line * 10, line * 10 + 10))
    const { total, truncated } = await readLines(log.folder, { ...LAST, limit: 1 })
    const gone = truncated.reduce((sum, { from, to }) => sum + to - from, 0)
    expect(total).toBe(line + 1 - gone / 10)
  }
})

test('holes of a log that its program writes itself are gaps between lines', async () => {
  const log = new LogWriter(tempFolder(), { headBytes: 1 << 30 }).write(countingBytes(0, 100)).punch(25, 62)
  const { lines, total, truncated } = await readLines(log.folder, ALL)
  expect(truncated).toEqual([{ from: 25, to: 62 }])
  expect(total).toBe(7)
  expect(lines.slice(2, 4)).toEqual([
    { number: 2, offset: 20, text: '00000', partial: true },
    { number: 3, offset: 62, text: '0000006', partial: true },
  ])
})

test('in a tagged log each line names its stream, and one stream can be had alone', async () => {
  const log = new LogWriter(tempFolder(), SMALL)
  log.tagged('stdout', 'out ').tagged('stderr', 'error 1\n').tagged('stdout', 'goes on\n')
  log.tagged('stderr', 'error 2\n').tagged('stdout', 'end')
  const texts = async (stream: 'stdout' | 'stderr') => {
    const { lines, total } = await readLines(log.folder, { ...ALL, stream })
    expect(total).toBe(2)
    expect(lines.every((line) => line.stream === stream)).toBe(true)
    return lines.map(({ number, offset, text }) => [number, offset, text])
  }
  expect(await texts('stdout')).toEqual([
    [0, 0, 'out goes on'],
    [1, 28, 'end'],
  ])
  expect(await texts('stderr')).toEqual([
    [0, 4, 'error 1'],
    [1, 20, 'error 2'],
  ])
  expect((await readLines(log.folder, ALL)).lines.map(({ text, stream }) => [text, stream])).toEqual([
    ['out error 1', 'stdout'],
    ['goes on', 'stdout'],
    ['error 2', 'stderr'],
    ['end', 'stdout'],
  ])
  expect((await readLines(log.folder, { ...LAST, limit: 1, stream: 'stderr' })).lines[0]?.text).toBe(
    'error 2',
  )
})

test('one stream of a log that does not keep them apart is refused', async () => {
  const { folder } = new LogWriter(tempFolder()).note('time', 1000).write('merged\n')
  await expect(readLines(folder, { ...ALL, stream: 'stderr' })).rejects.toMatchObject({
    code: 'invalid_input',
  })
})

test('a page holds 4 MiB at most, and has a cursor on the side where it was cut', async () => {
  const line = `${'x'.repeat(65_000)}\n`
  const { folder } = new LogWriter(tempFolder()).write(line.repeat(100))
  const first = await readLines(folder, ALL)
  expect(first.lines.length).toBe(64)
  expect(first.next).toBe(64)
  const last = await readLines(folder, LAST)
  expect(last.lines.map(({ number }) => number)).toEqual(Array.from({ length: 64 }, (_, index) => 36 + index))
  expect(last.total).toBe(100)
})

test('lines joined are the text, and any page is a part of it', async () => {
  const text = fc.array(fc.oneof(fc.string({ unit: 'grapheme', maxLength: 12 }), fc.constant('\n')), {
    maxLength: 30,
  })
  await fc.assert(
    fc.asyncProperty(text, fc.nat(20), fc.integer({ min: 1, max: 9 }), async (parts, offset, limit) => {
      const whole = parts.join('').replaceAll('\r', '')
      const { folder } = new LogWriter(tempFolder(), { headBytes: 16, segmentBytes: 16 }).write(whole)
      const { lines, total } = await readLines(folder, ALL)
      const texts = lines.map((line) => line.text)
      const expected = whole.split('\n')
      if (expected.at(-1) === '') expected.pop()
      expect(texts).toEqual(expected)
      expect(total).toBe(expected.length)
      for (const line of lines)
        expect(Buffer.from(whole).subarray(line.offset).toString().startsWith(line.text)).toBe(true)
      const page = await readLines(folder, { ...ALL, offset, limit })
      expect(page.lines).toEqual(lines.slice(offset, offset + limit))
      const fromEnd = await readLines(folder, { ...LAST, offset, limit })
      const stop = Math.max(0, total - offset)
      expect(fromEnd.lines).toEqual(lines.slice(Math.max(0, stop - limit), stop))
    }),
    { numRuns: 150 },
  )
})

test.each([1, 2, 3])(
  'lines of a log that rotates meanwhile are real ones, in order (seed %i)',
  async (seed) => {
    const random = seeded(seed)
    for (let round = 0; round < 40; round++) {
      const segmentBytes = 30 + random(300)
      const log = new LogWriter(tempFolder(), { headBytes: 100, segmentBytes, tailBytes: segmentBytes * 2 })
      let isWriting = true
      const writing = (async () => {
        while (log.end < 6000) {
          log.write(countingBytes(log.end, log.end + 1 + random(200)))
          if (random(3) === 0) await new Promise(setImmediate)
        }
        isWriting = false
      })()
      while (isWriting) {
        const from = random(2) === 0 ? 'start' : 'end'
        const { lines, total, truncated } = await readLines(log.folder, {
          ...ALL,
          from,
          limit: 1 + random(30),
          ended: false,
        })
        let before = -1
        for (const { number, offset, text, partial } of lines) {
          expect(number).toBeGreaterThan(before)
          expect(number).toBeLessThan(total)
          before = number
          expect(countingBytes(offset, offset + text.length).toString()).toBe(text)
          if (!partial) expect(offset % 10).toBe(0)
          expect(truncated.some((gap) => gap.from <= offset && offset < gap.to)).toBe(false)
        }
      }
      await writing
    }
  },
)
