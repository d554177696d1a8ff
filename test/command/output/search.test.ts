import { join } from 'node:path'
import { expect, test } from 'vitest'
import { MAX_COUNTED, searchLines } from '../../../src/command/output/search.ts'
import { ReeveError } from '../../../src/core/errors.ts'
import { Masker } from '../../../src/redaction/masker.ts'
import { tempFolder } from '../../temp-folder.ts'
import { countingBytes, LogWriter } from './log-writer.ts'

const DIALOGUE = 'start\n\x1b[31mError\x1b[0m: no such file\nretry\nerror: again\nend\n'

test('a text is found with its line, its offset, and the lines around it', async () => {
  const { folder } = new LogWriter(tempFolder()).write(DIALOGUE)
  expect(await searchLines(folder, { text: 'again', limit: 10, context: 2 })).toEqual({
    matches: [
      {
        number: 3,
        offset: 41,
        text: 'error: again',
        before: [
          { number: 1, offset: 6, text: 'Error: no such file' },
          { number: 2, offset: 35, text: 'retry' },
        ],
        after: [{ number: 4, offset: 54, text: 'end' }],
      },
    ],
    total: 1,
    totalIsLeast: false,
    next: null,
    truncated: [],
    cutLines: 0,
    end: 58,
  })
})

test('escape sequences hide nothing from a search, and are given back if asked for', async () => {
  const { folder } = new LogWriter(tempFolder()).write(DIALOGUE)
  const found = await searchLines(folder, { text: 'Error: no', limit: 10, ansi: 'keep' })
  expect(found.matches.map(({ text }) => text)).toEqual(['\x1b[31mError\x1b[0m: no such file'])
})

test('case counts unless it is to be ignored, for texts and for patterns', async () => {
  const { folder } = new LogWriter(tempFolder()).write(DIALOGUE)
  const numbers = async (wanted: object) =>
    (await searchLines(folder, { limit: 10, ...wanted })).matches.map(({ number }) => number)
  expect(await numbers({ text: 'error' })).toEqual([3])
  expect(await numbers({ text: 'ERROR', ignoreCase: true })).toEqual([1, 3])
  expect(await numbers({ pattern: '^error' })).toEqual([3])
  expect(await numbers({ pattern: '^ERR.R:', ignoreCase: true })).toEqual([1, 3])
  expect(await numbers({ pattern: 'a{2}' })).toEqual([])
})

test('contexts of matches that stand close overlap', async () => {
  const { folder } = new LogWriter(tempFolder()).write('a\nb\nx1\nx2\nc\nd\n')
  const { matches } = await searchLines(folder, { text: 'x', limit: 10, context: 1 })
  expect(matches.map(({ text, before, after }) => [before[0]?.text, text, after[0]?.text])).toEqual([
    ['b', 'x1', 'x2'],
    ['x1', 'x2', 'c'],
  ])
})

test('matches beyond the limit are counted, and the next search goes on with them', async () => {
  const { folder } = new LogWriter(tempFolder(), { headBytes: 20, segmentBytes: 20 }).write(
    countingBytes(0, 1000),
  )
  const first = await searchLines(folder, { pattern: '5$', limit: 4, context: 1 })
  expect(first.matches.map(({ number }) => number)).toEqual([5, 15, 25, 35])
  expect(first).toMatchObject({ total: 10, next: 450 })
  expect(first.matches[3]?.after).toEqual([{ number: 36, offset: 360, text: '000000036' }])
  const second = await searchLines(folder, { pattern: '5$', limit: 10, from: first.next ?? 0 })
  expect(second.matches.map(({ number }) => number)).toEqual([45, 55, 65, 75, 85, 95])
  expect(second).toMatchObject({ total: 6, next: null })
})

test('counting stops at its limit, and reports that', async () => {
  const { folder } = new LogWriter(tempFolder()).write('x\n'.repeat(MAX_COUNTED + 5))
  expect(await searchLines(folder, { text: 'x', limit: 1 })).toMatchObject({
    total: MAX_COUNTED,
    totalIsLeast: true,
    next: 2,
  })
})

test('a search names the gaps it could not look into', async () => {
  const caps = { headBytes: 20, tailBytes: 40, segmentBytes: 20 }
  const { folder } = new LogWriter(tempFolder(), caps).write(countingBytes(0, 130))
  const { matches, truncated } = await searchLines(folder, { text: '00', limit: 50 })
  expect(truncated).toEqual([{ from: 20, to: 80 }])
  expect(matches.map(({ text }) => Number(text))).toEqual([0, 1, 8, 9, 10, 11, 12])
})

test('a line that is too long to be searched as a whole is reported', async () => {
  const { folder } = new LogWriter(tempFolder()).write(`${'a'.repeat(70_000)}x\nx\n`)
  expect(await searchLines(folder, { text: 'x', limit: 5 })).toMatchObject({ total: 1, cutLines: 1 })
})

test('one stream of a tagged log can be searched alone', async () => {
  const log = new LogWriter(tempFolder()).tagged('stdout', 'x 1\n').tagged('stderr', 'x 2\n')
  const { matches } = await searchLines(log.folder, { text: 'x', limit: 5, stream: 'stderr' })
  expect(matches).toMatchObject([{ number: 0, offset: 4, text: 'x 2', stream: 'stderr' }])
})

test('without a log nothing is found', async () => {
  const answer = await searchLines(join(tempFolder(), 'nowhere'), { text: 'x', limit: 5 })
  expect(answer).toMatchObject({ matches: [], total: 0, end: 0 })
})

test.each([
  ['both a text and a pattern', { text: 'x', pattern: 'x' }, /text or a pattern/],
  ['neither', {}, /text or a pattern/],
  ['an empty text', { text: '' }, /empty text/],
  ['look-behind', { pattern: 'c(?<=b)a' }, /looks behind, at character 2, which RE2/],
  ['look-around', { pattern: 'a(?=b)c' }, /Perl syntax, at character 2: "\(\?="/],
  ['a back-reference', { pattern: '(a)\\1' }, /invalid escape sequence, at character 4/],
  ['a class that is not closed', { pattern: 'ab[c' }, /missing closing \], at character 3/],
  ['a part that stands there twice', { pattern: 'a**b**' }, /repetition operator, in it: "\*\*"/],
  ['a repetition that is too large', { pattern: 'a{1001}' }, /invalid repeat count/],
  ['many repetitions', { pattern: '(a{1,900}b){1,1}(c{1,900}d)(e{1,900})' }, /too large/],
  ['a pattern that is too long', { pattern: 'x'.repeat(1001) }, /1001 characters/],
])('a search for %s is refused, and says why', async (_, wanted, message) => {
  const { folder } = new LogWriter(tempFolder()).write('x\n')
  const refused = await searchLines(folder, { limit: 5, ...wanted }).catch((error: unknown) => error)
  expect(refused).toBeInstanceOf(ReeveError)
  expect(refused).toMatchObject({ code: 'invalid_input', message: expect.stringMatching(message) })
})

test('a pattern that makes backtracking workflows hang takes no longer than others', async () => {
  const { folder } = new LogWriter(tempFolder()).write(`${'a'.repeat(30_000)}!\n`)
  expect((await searchLines(folder, { pattern: '^(a+)+$', limit: 1 })).total).toBe(0)
})

test('a search in rendered text finds visible text, and no overwritten text', async () => {
  const { folder } = new LogWriter(tempFolder()).write('foo  50%\rfoo 100%\nplain 50%\n')
  const found = async (text: string, ansi: 'render' | 'strip') =>
    (await searchLines(folder, { text, limit: 10, ansi })).matches.map((match) => match.text)
  expect(await found('50%', 'render')).toEqual(['plain 50%'])
  expect(await found('foo 100%', 'render')).toEqual(['foo 100%'])
  expect(await found('50%', 'strip')).toEqual(['foo  50%\rfoo 100%', 'plain 50%'])
})

test.each(['\x1b[2J', '\x1b[H', '\f', '\v'])('a line with %j in it is shown as one line', async (control) => {
  const { folder } = new LogWriter(tempFolder()).write(`before${control}after\nnext\n`)
  const { matches } = await searchLines(folder, { text: 'after', limit: 10, context: 1, ansi: 'render' })
  expect(matches).toMatchObject([{ number: 0, text: 'before after', after: [{ text: 'next' }] }])
})

test('a search finds no secret that is put together by printing over other text', async () => {
  const masking = { masker: new Masker({ values: ['correct-horse-battery'] }), tagged: false, final: true }
  const { folder } = new LogWriter(tempFolder()).write('xxxxxxx-horse-battery\rcorrect\n')
  const options = {
    limit: 10,
    ansi: 'render',
    ended: true,
    masking: { ...masking, mayShow: () => true },
  } as const
  expect((await searchLines(folder, { text: 'correct-horse', ...options })).total).toBe(0)
})
