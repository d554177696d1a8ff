import { expect, test } from 'vitest'
import { lineDiff } from '../../../src/core/files/line-diff.ts'

const numbered = (count: number, prefix = 'line') =>
  Array.from({ length: count }, (_, index) => `${prefix} ${index + 1}\n`).join('')

test('a diff has the changed lines with three lines around them', () => {
  const before = numbered(20)
  const after = before.replace('line 5\n', 'LINE 5\n').replace('line 18\n', '')
  expect(lineDiff(before, after)).toEqual({
    text: [
      '@@ -2,7 +2,7 @@',
      ' line 2',
      ' line 3',
      ' line 4',
      '-line 5',
      '+LINE 5',
      ' line 6',
      ' line 7',
      ' line 8',
      '@@ -15,6 +15,5 @@',
      ' line 15',
      ' line 16',
      ' line 17',
      '-line 18',
      ' line 19',
      ' line 20',
    ].join('\n'),
    isCut: false,
  })
})

test('a new file is added lines, and an emptied one removed lines', () => {
  expect(lineDiff('', 'a\nb\n').text).toBe('@@ -0,0 +1,2 @@\n+a\n+b')
  expect(lineDiff('a\nb\n', '').text).toBe('@@ -1,2 +0,0 @@\n-a\n-b')
  expect(lineDiff('', '')).toEqual({ text: '', isCut: false })
  expect(lineDiff('same\n', 'same\n')).toEqual({ text: '', isCut: false })
})

test('a missing end of the last line is a change, and so is an end of line of another system', () => {
  expect(lineDiff('a\nb\n', 'a\nb').text).toBe('@@ -1,2 +1,2 @@\n a\n-b\n+b\n\\ No newline at end of file')
  expect(lineDiff('a\r\n', 'a\n').text).toBe('@@ -1,1 +1,1 @@\n-a\r\n+a')
})

test('lines that moved are compared, and equal lines between changes are kept', () => {
  expect(lineDiff('a\nb\nc\nd\n', 'b\nc\nx\nd\na\n').text).toBe('@@ -1,4 +1,5 @@\n-a\n b\n c\n+x\n d\n+a')
})

test('a large change is cut, and says so', () => {
  const many = lineDiff('', numbered(1_000))
  expect(many.isCut).toBe(true)
  expect(many.text.split('\n')).toHaveLength(40)
  const long = lineDiff('', `${'x'.repeat(10_000)}\n`)
  expect(long.isCut).toBe(true)
  expect(long.text.length).toBeLessThan(500)
  const wide = lineDiff('', `${'y'.repeat(390)}\n`.repeat(39))
  expect(wide.isCut).toBe(true)
  expect(wide.text.length).toBeLessThanOrEqual(4_000)
  expect(lineDiff(numbered(5_000, 'old'), numbered(5_000, 'new')).isCut).toBe(true)
})
