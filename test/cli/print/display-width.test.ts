import { expect, test } from 'vitest'
import { cutTo, displayWidth, padTo } from '../../../src/cli/print/display-width.ts'
import { tableLines } from '../../../src/cli/print/table.ts'

test.each([
  ['ASCII', 'reeve', 5],
  ['accents', 'déjà vu', 7],
  ['combining accents', 'de\u0301ja\u0300', 4],
  ['Chinese', '你好', 4],
  ['Japanese kana', 'カタカナ', 8],
  ['half-width kana', 'ｶﾀｶﾅ', 4],
  ['Korean syllables', '한국어', 6],
  ['Korean jamo that form a syllable', '\u1112\u1161\u11ab', 2],
  ['full-width Latin', 'Ａ', 2],
  ['an emoji', '🚀', 2],
  ['an emoji of several characters joined by ZWJ', '👩‍👩‍👧‍👦', 2],
  ['an emoji with a skin tone', '👍🏽', 2],
  ['a flag', '🇩🇪', 2],
  ['a keycap', '1️⃣', 2],
  ['a symbol as text', '❤', 1],
  ['the same symbol as an emoji', '❤️', 2],
  ['digits', '0123#*', 6],
  ['Thai with vowel signs', 'สวัสดี', 4],
  ['a zero-width space', 'a\u200bb', 2],
  ['box drawing', '├─ ', 3],
  ['a rare ideograph', '\u{20bb7}', 2],
  ['nothing', '', 0],
])('%s: %j takes %d columns', (_what, text, columns) => {
  expect(displayWidth(text)).toBe(columns)
})

test('a text is cut between characters, and is never wider than asked for', () => {
  expect(cutTo('你好世界', 5)).toBe('你好…')
  expect(cutTo('你好世界', 4)).toBe('你…')
  expect(cutTo('你好', 4)).toBe('你好')
  expect(cutTo('a👩‍👩‍👧‍👦b', 3)).toBe('a…')
  expect(cutTo('reeve', 1)).toBe('…')
  expect(cutTo('reeve', 0)).toBe('')
})

test('padding fills up to a column', () => {
  expect(padTo('你', 4)).toBe('你  ')
  expect(padTo('reeve', 3)).toBe('reeve')
})

test('the columns of a table are aligned in every script', () => {
  const columns = [
    { title: 'NAME' },
    { title: 'N', align: 'right' },
    { title: 'COMMAND', flexible: true },
  ] as const
  const row = (name: string, count: string) => [{ text: name }, { text: count }, { text: '编译 everything' }]
  const rows = [row('web', '1'), row('データ', '20'), row('👩‍👩‍👧‍👦', '3')]
  const lines = tableLines(columns, rows, { width: 22, paintTitle: (text) => text })
  expect(lines).toEqual([
    'NAME     N  COMMAND',
    'web      1  编译 ever…',
    'データ  20  编译 ever…',
    '👩‍👩‍👧‍👦       3  编译 ever…',
  ])
})
