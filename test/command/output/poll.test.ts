import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readSince, type SinceOptions } from '../../../src/command/output/poll.ts'
import { tempFolder } from '../../temp-folder.ts'
import { countingBytes, LogWriter } from './log-writer.ts'

const POLL: SinceOptions = { maxChars: 2000, ansi: 'keep' }

test('a poll without a log answers with nothing', async () => {
  expect(await readSince(join(tempFolder(), 'nowhere'), 0, POLL)).toEqual({
    text: '',
    from: 0,
    next: 0,
    more: false,
    truncated: [],
    end: 0,
  })
})

test('a poll returns the output since the cursor, and the next one repeats none of it', async () => {
  const log = new LogWriter(tempFolder()).write('one\n')
  const first = await readSince(log.folder, 0, POLL)
  expect(first).toMatchObject({ text: 'one\n', from: 0, next: 4, more: false, end: 4 })
  log.write('two\n')
  expect(await readSince(log.folder, first.next, POLL)).toMatchObject({ text: 'two\n', from: 4, next: 8 })
  expect(await readSince(log.folder, 8, POLL)).toMatchObject({ text: '', from: 8, next: 8, more: false })
})

test('a poll is limited in characters, and the cursor goes on between two of them', async () => {
  const { folder } = new LogWriter(tempFolder()).write('é漢😀')
  expect(await readSince(folder, 0, { ...POLL, maxChars: 2 })).toMatchObject({
    text: 'é漢',
    next: 5,
    more: true,
  })
  expect(await readSince(folder, 5, { ...POLL, maxChars: 2 })).toMatchObject({
    text: '😀',
    next: 9,
    more: false,
  })
})

test('a text that just fits the limit has no more', async () => {
  const { folder } = new LogWriter(tempFolder()).write('abc')
  expect(await readSince(folder, 0, { ...POLL, maxChars: 3 })).toMatchObject({ text: 'abc', more: false })
})

test('half a character at the end waits while the process runs, and is shown when it has ended', async () => {
  const log = new LogWriter(tempFolder()).write(Buffer.from('a漢').subarray(0, 3))
  expect(await readSince(log.folder, 0, POLL)).toMatchObject({ text: 'a', next: 1, more: false, end: 3 })
  expect(await readSince(log.folder, 0, { ...POLL, ended: true })).toMatchObject({ text: 'a\ufffd', next: 3 })
  log.write(Buffer.from('漢').subarray(2))
  expect(await readSince(log.folder, 1, POLL)).toMatchObject({ text: '漢', next: 4 })
})

test('half an escape sequence at the end waits as well, if they are stripped', async () => {
  const log = new LogWriter(tempFolder()).write('a\x1b[3')
  const strip: SinceOptions = { ...POLL, ansi: 'strip' }
  expect(await readSince(log.folder, 0, strip)).toMatchObject({ text: 'a', next: 1, more: false })
  expect(await readSince(log.folder, 0, { ...strip, ended: true })).toMatchObject({ text: 'a', next: 4 })
  log.write('1mb')
  expect(await readSince(log.folder, 1, strip)).toMatchObject({ text: 'b', next: 7 })
})

test('a gap lies between two polls, and the second names it', async () => {
  const caps = { headBytes: 20, tailBytes: 40, segmentBytes: 20 }
  const { folder } = new LogWriter(tempFolder(), caps).write(countingBytes(0, 130))
  const head = await readSince(folder, 0, POLL)
  expect(head).toMatchObject({ text: '000000000\n000000001\n', next: 20, more: true, truncated: [] })
  const tail = await readSince(folder, head.next, POLL)
  expect(tail).toMatchObject({ from: 80, next: 130, more: false, truncated: [{ from: 20, to: 80 }] })
  expect(tail.text).toBe(countingBytes(80, 130).toString())
})

test('a character that a gap cut through is no character on either side', async () => {
  const caps = { headBytes: 2, tailBytes: 2, segmentBytes: 2 }
  const { folder } = new LogWriter(tempFolder(), caps).write('a漢cdé漢')
  const head = await readSince(folder, 0, POLL)
  expect(head).toMatchObject({ text: 'a\ufffd', next: 2, more: true })
  expect(await readSince(folder, 2, POLL)).toMatchObject({
    text: '漢',
    from: 8,
    truncated: [{ from: 2, to: 8 }],
  })
})

test('a log that is nearly all escape sequences is polled to its end', async () => {
  const { folder } = new LogWriter(tempFolder()).write(`${'\x1b[1m'.repeat(50_000)}x`)
  expect(await readSince(folder, 0, { maxChars: 5, ansi: 'strip' })).toMatchObject({
    text: 'x',
    next: 200_001,
  })
})

test('polls one after the other make up the text, however it is written and limited', async () => {
  const part = fc.oneof(
    fc.string({ unit: 'grapheme', maxLength: 20 }),
    fc.constantFrom('\x1b[31m', '\x1b]0;a title\x07', '\n', '😀', '漢字'),
  )
  await fc.assert(
    fc.asyncProperty(
      fc.array(part, { maxLength: 12 }),
      fc.integer({ min: 1, max: 30 }),
      fc.integer({ min: 1, max: 9 }),
      fc.constantFrom('keep', 'strip'),
      async (parts, maxChars, step, ansi) => {
        const bytes = Buffer.from(parts.join(''))
        const log = new LogWriter(tempFolder(), { headBytes: 16, segmentBytes: 16 })
        let polled = ''
        let cursor = 0
        const poll = async (ended: boolean) => {
          for (let more = true; more; ) {
            const answer = await readSince(log.folder, cursor, { maxChars, ansi, ended })
            expect([...answer.text].length).toBeLessThanOrEqual(maxChars)
            polled += answer.text
            cursor = answer.next
            more = answer.more
          }
        }
        for (let at = 0; at < bytes.length; at += step) {
          log.write(bytes.subarray(at, at + step))
          await poll(false)
        }
        await poll(true)
        expect(cursor).toBe(bytes.length)
        // biome-ignore lint/suspicious/noControlCharactersInRegex: it removes escape sequences
        const bare = bytes.toString().replaceAll(/\x1b\[31m|\x1b\]0;a title\x07/g, '')
        expect(polled).toBe(ansi === 'keep' ? bytes.toString() : bare)
      },
    ),
    { numRuns: 150 },
  )
})
