import { expect, test } from 'vitest'
import { LineFinder } from '../../../src/command/output/line-finder.ts'

function pieces(...texts: readonly string[]) {
  let offset = 0
  return texts.map((text) => {
    const bytes = Buffer.from(text)
    const piece = { offset, bytes, gap: null }
    offset += bytes.length
    return piece
  })
}

test('a line that comes in three pieces is found once it is there', () => {
  const finder = new LineFinder({ text: 'server ready' })
  expect(pieces('one\nserv', 'er re', 'ady on 80\n').map((piece) => finder.add(piece))).toEqual([
    null,
    null,
    { offset: 4, text: 'server ready on 80' },
  ])
})

test('it continues at the beginning of the unfinished line', () => {
  const finder = new LineFinder({ text: 'ready' })
  expect(finder.scannedTo).toBeNull()
  const scanned = pieces('one\nre', 'a', 'd\ntwo\n').map((piece) => {
    finder.add(piece)
    return finder.scannedTo
  })
  expect(scanned).toEqual([4, 4, 13])
})

test('a prompt without a newline is found', () => {
  const finder = new LineFinder({ pattern: 'Name: $' })
  expect(pieces('hello\n', 'Name: ').map((piece) => finder.add(piece))).toEqual([
    null,
    { offset: 6, text: 'Name: ' },
  ])
})

test('colours do not hide a text', () => {
  const [piece] = pieces('\x1b[32mre\x1b[1mady\x1b[0m\n')
  expect(new LineFinder({ text: 'ready' }).add(piece as NonNullable<typeof piece>)).toMatchObject({
    text: 'ready',
  })
})

test('lines on two sides of a gap are not joined', () => {
  const finder = new LineFinder({ text: 'ready' })
  expect(finder.add({ offset: 0, bytes: Buffer.from('re'), gap: null })).toBeNull()
  expect(finder.add({ offset: 100, bytes: Buffer.from('ady\n'), gap: { from: 2, to: 100 } })).toBeNull()
})
