import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { MAX_TERMINALS, Screens } from '../../../src/command/screen/screen.ts'
import { tempFolder } from '../../temp-folder.ts'
import { LogWriter } from '../output/log-writer.ts'

const PID = 'p_aaaaaaaaaaaa'
const SIZE = { cols: 20, rows: 5 }

function show(log: LogWriter, options = {}) {
  return new Screens().show(PID, log.folder, { ...SIZE, ...options })
}

test('a screen shows its rows without blanks at their ends, and where the cursor is', async () => {
  const log = new LogWriter(tempFolder()).write('hello\r\nworld   \r\n$ ')
  expect(await show(log)).toEqual({
    cols: 20,
    rows: 5,
    lines: ['hello', 'world', '$', '', ''],
    scrollback: [],
    cursor: { row: 2, column: 2 },
    offset: 19,
    alternate: false,
    truncated: null,
  })
})

test('an empty log and none at all are an empty screen', async () => {
  const log = new LogWriter(tempFolder())
  const empty = { lines: ['', '', '', '', ''], cursor: { row: 0, column: 0 }, offset: 0 }
  expect(await show(log)).toMatchObject(empty)
  expect(await new Screens().show(PID, `${log.folder}/nowhere`, SIZE)).toMatchObject(empty)
})

test('an editor on the alternate screen is shown, and the former screen is back when it ends', async () => {
  const log = new LogWriter(tempFolder()).write('$ vim\r\n')
  log.write('\x1b[?1049h\x1b[2J\x1b[H')
  log.write('first line\r\n\x1b[2;1H~\x1b[3;1H~\x1b[4;1H~')
  log.write('\x1b[5;1H\x1b[7m-- INSERT --\x1b[m\x1b[1;11H')
  const screens = new Screens()
  expect(await screens.show(PID, log.folder, SIZE)).toMatchObject({
    lines: ['first line', '~', '~', '~', '-- INSERT --'],
    cursor: { row: 0, column: 10 },
    alternate: true,
  })
  log.write('\x1b[1;1Hinserted\x1b[K\x1b[2;1H\x1b[L new row')
  expect(await screens.show(PID, log.folder, SIZE)).toMatchObject({
    lines: ['inserted', ' new row', '~', '~', '~'],
  })
  log.write('\x1b[?1049l$ ')
  expect(await screens.show(PID, log.folder, SIZE)).toMatchObject({
    lines: ['$ vim', '$', '', '', ''],
    alternate: false,
  })
})

test('a progress bar that is drawn over itself is seen once', async () => {
  const log = new LogWriter(tempFolder()).write('10%\r55%\r100%\x1b[K done')
  expect((await show(log)).lines[0]).toBe('100% done')
})

test('lines above the window can be asked for', async () => {
  const log = new LogWriter(tempFolder())
  for (let line = 1; line <= 9; line++) log.write(`${line}\r\n`)
  expect(await show(log, { scrollback: 3 })).toMatchObject({
    scrollback: ['3', '4', '5'],
    lines: ['6', '7', '8', '9', ''],
  })
  expect((await show(log, { scrollback: 100 })).scrollback).toEqual(['1', '2', '3', '4', '5'])
  expect((await show(log)).scrollback).toEqual([])
})

test('wide characters take two columns, combining ones none, and neither is lost', async () => {
  const cases = [
    ['漢字', 4],
    ['한글', 4],
    ['e\u0301', 1],
    ['😀!', 3],
    ['✓─│', 3],
    ['ｱ', 1],
    ['\u26a0\ufe0f', 1],
    ['🇩🇪', 2],
    ['a\u200bb', 2],
  ] as const
  for (const [text, column] of cases) {
    const { lines, cursor } = await show(new LogWriter(tempFolder()).write(text))
    expect({ text: lines[0], column: cursor.column }).toEqual({ text, column })
  }
})

test('a line that is just full leaves the cursor on its last column', async () => {
  const { lines, cursor } = await show(new LogWriter(tempFolder()).write('x'.repeat(20)))
  expect(lines[0]).toBe('x'.repeat(20))
  expect(cursor).toEqual({ row: 0, column: 19 })
})

test('the title is shown once there is one', async () => {
  const log = new LogWriter(tempFolder()).write('x')
  expect(await show(log)).not.toHaveProperty('title')
  expect((await show(log.write('\x1b]0;make: building\x07'))).title).toBe('make: building')
})

test('a window changes its size where it did so in the log', async () => {
  const log = new LogWriter(tempFolder()).resize(30, 4).write('0123456789'.repeat(2))
  log.resize(10, 4).write('\r\nab\r\n').resize(40, 6).write('0123456789012345678901234')
  const { cols, rows, lines } = await show(log)
  expect({ cols, rows }).toEqual({ cols: 40, rows: 6 })
  expect(lines).toContain('0123456789012345678901234')
})

test('a change of size shows before anything else is written', async () => {
  const log = new LogWriter(tempFolder()).resize(20, 5).write('x')
  const screens = new Screens()
  await screens.show(PID, log.folder, SIZE)
  log.resize(33, 7)
  expect(await screens.show(PID, log.folder, SIZE)).toMatchObject({ cols: 33, rows: 7, offset: 1 })
})

test('sizes are neither missed nor repeated when old entries are taken out of the index', async () => {
  const log = new LogWriter(tempFolder()).resize(30, 4)
  for (let time = 0; time < 300; time++) log.note('time', time).write(`${time}\r\n`)
  log.resize(31, 5).resize(32, 6)
  const screens = new Screens()
  await screens.show(PID, log.folder, SIZE)
  const path = join(log.folder, 'index')
  const index = readFileSync(path)
  writeFileSync(path, Buffer.concat([index.subarray(0, 16), index.subarray(280 * 16)]))
  expect(await screens.show(PID, log.folder, SIZE)).toMatchObject({ cols: 32, rows: 6 })
  log.resize(33, 7).write('end')
  const seen = await screens.show(PID, log.folder, SIZE)
  expect(seen).toMatchObject({ cols: 33, rows: 7, lines: ['294', '295', '296', '297', '298', '299', 'end'] })
  expect(await show(log)).toEqual(seen)
})

test('a character and a sequence that are split over two looks are each one', async () => {
  const log = new LogWriter(tempFolder())
  const screens = new Screens()
  for (const byte of Buffer.from('é\x1b[1;10H漢')) {
    log.write(Buffer.of(byte))
    await screens.show(PID, log.folder, SIZE)
  }
  expect((await screens.show(PID, log.folder, SIZE)).lines[0]).toBe('é        漢')
})

test('a screen after a gap reports the missing bytes, and keeps the mode from before', async () => {
  const log = new LogWriter(tempFolder(), { headBytes: 16, segmentBytes: 16, tailBytes: 32 })
  log.write('\x1b[?1049h\x1b[2J\x1b[1').write('x'.repeat(48)).write('\x1b[2J\x1b[Hafter')
  const { truncated, alternate, lines } = await show(log)
  expect(truncated).toEqual({ from: 16, to: 32 })
  expect(alternate).toBe(true)
  expect(lines[0]).toBe('after')
})

test('a terminal that was fed before its log rotated misses nothing', async () => {
  const log = new LogWriter(tempFolder(), { headBytes: 16, segmentBytes: 16, tailBytes: 16 })
  const screens = new Screens()
  for (let line = 0; line < 20; line++) {
    log.write(`line ${String(line).padStart(2)}\r\n`)
    await screens.show(PID, log.folder, SIZE)
  }
  expect(await screens.show(PID, log.folder, SIZE)).toMatchObject({
    truncated: null,
    lines: ['line 16', 'line 17', 'line 18', 'line 19', ''],
  })
  expect((await show(log)).truncated).toEqual({ from: 16, to: 160 })
})

test('looks at one process at the same time all see it whole', async () => {
  const log = new LogWriter(tempFolder()).write('one\r\ntwo\r\n'.repeat(1000))
  const screens = new Screens()
  const seen = await Promise.all(Array.from({ length: 10 }, () => screens.show(PID, log.folder, SIZE)))
  for (const screen of seen) expect(screen).toEqual(seen[0])
  expect(seen[0]?.lines).toEqual(['one', 'two', 'one', 'two', ''])
})

test('more terminals than are kept, and forgotten ones, are rebuilt', async () => {
  const screens = new Screens()
  const logs = Array.from({ length: MAX_TERMINALS + 4 }, (_, index) =>
    new LogWriter(tempFolder()).write(`log ${index}`),
  )
  for (let round = 0; round < 2; round++) {
    const seen = await Promise.all(logs.map((log, index) => screens.show(`p_${index}`, log.folder, SIZE)))
    expect(seen.map(({ lines }) => lines[0])).toEqual(logs.map((_, index) => `log ${index}`))
  }
  const last = logs.at(-1)
  const showing = screens.show(`p_${logs.length - 1}`, last?.folder ?? '', SIZE)
  screens.forget(`p_${logs.length - 1}`)
  screens.forget('p_never')
  expect((await showing).lines[0]).toBe(`log ${logs.length - 1}`)
})

test('a terminal that was fed in small pieces shows the same as one that was fed at once', async () => {
  const part = fc.oneof(
    fc.string({ unit: 'grapheme', maxLength: 15 }),
    fc.constantFrom(
      '\r\n',
      '\x1b[H',
      '\x1b[2J',
      '\x1b[3;4H',
      '\x1b[K',
      '\x1b[1L',
      '\x1b[?1049h',
      '\x1b[?1049l',
      '漢字',
      '😀',
    ),
    fc.constantFrom('\x1b[2;4r', '\x1b[S', '\x1bM', '\x1b7', '\x1b8', '\t', '\b', '\x1b]2;title\x07'),
    fc.record({ cols: fc.integer({ min: 2, max: 40 }), rows: fc.integer({ min: 1, max: 10 }) }),
  )
  await fc.assert(
    fc.asyncProperty(
      fc.array(part, { maxLength: 15 }),
      fc.integer({ min: 1, max: 7 }),
      async (parts, step) => {
        const log = new LogWriter(tempFolder(), { headBytes: 32, segmentBytes: 32 })
        const screens = new Screens()
        for (const item of parts) {
          if (typeof item !== 'string') log.resize(item.cols, item.rows)
          else
            for (let at = 0, bytes = Buffer.from(item); at < bytes.length; at += step) {
              log.write(bytes.subarray(at, at + step))
              await screens.show(PID, log.folder, SIZE)
            }
        }
        const options = { ...SIZE, scrollback: 50 }
        expect(await screens.show(PID, log.folder, options)).toEqual(
          await new Screens().show(PID, log.folder, options),
        )
      },
    ),
    { numRuns: 60 },
  )
})
