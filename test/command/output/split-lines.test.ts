import { expect, test, vi } from 'vitest'
import { MAX_COUNTED, searchLines } from '../../../src/command/output/search.ts'
import { LineSplitter } from '../../../src/command/output/split-lines.ts'
import { tempFolder } from '../../temp-folder.ts'
import { LogWriter } from './log-writer.ts'

const FROM_THE_START = { line: 0, open: false, behindGap: false } as const

function texts(lines: Iterable<{ readonly bytes: Buffer }>): string[] {
  return [...lines].map(({ bytes }) => bytes.toString())
}

test('lines are cut when they are asked for, not before', () => {
  const bytes = Buffer.from('a\n'.repeat(1_000))
  const looked = vi.spyOn(bytes, 'indexOf')
  const lines = new LineSplitter(FROM_THE_START).cut({ offset: 0, bytes, gap: null })
  for (const number of [0, 1, 2]) expect(lines.next().value).toMatchObject({ number, offset: 2 * number })
  expect(looked).toHaveBeenCalledTimes(3)
})

test('a line that goes on in the next piece is whole, and keeps neither piece', () => {
  const splitter = new LineSplitter(FROM_THE_START)
  const first = Buffer.from('one\n\ntwo be')
  expect(texts(splitter.cut({ offset: 0, bytes: first, gap: null }))).toEqual(['one', ''])
  first.fill('x')
  expect(texts(splitter.cut({ offset: 11, bytes: Buffer.from('gun\r\nthree'), gap: null }))).toEqual([
    'two begun',
  ])
  expect(texts(splitter.end())).toEqual(['three'])
})

test('a search looks through millions of empty lines, and counts them where they match', async () => {
  const newlines = 2 * 1024 * 1024
  const { folder } = new LogWriter(tempFolder()).write(Buffer.alloc(newlines, '\n')).write('needle\n')
  const found = await searchLines(folder, { text: 'needle', limit: 10 })
  expect(found).toMatchObject({ total: 1, matches: [{ number: newlines, offset: newlines }] })
  const empty = await searchLines(folder, { pattern: '^$', limit: 2 })
  expect(empty).toMatchObject({ total: MAX_COUNTED, totalIsLeast: true, next: 2 })
  expect(empty.matches.map(({ number }) => number)).toEqual([0, 1])
})
