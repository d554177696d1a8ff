import { expect, test } from 'vitest'
import { MarkdownStream } from '../../../src/cli/agent/markdown-stream.ts'
import type { Colours, Paint } from '../../../src/cli/print/colour.ts'

/** Marks each character, so that the result does not depend on how the text was divided. */
function each(sign: string): Paint {
  return (text) => [...text].map((letter) => `${sign}${letter}`).join('')
}

const same: Paint = (text) => text
const SIGNS: Colours = {
  bold: each('B'),
  dim: each('D'),
  red: same,
  green: same,
  yellow: same,
  blue: same,
  cyan: each('C'),
}

function painted(...pieces: string[]): string {
  const stream = new MarkdownStream(SIGNS)
  return pieces.map((piece) => stream.push(piece)).join('') + stream.end()
}

test.each([
  ['a **b** c', 'a B*B*BbB*B* c'],
  ['a `b` c', 'a C`CbC` c'],
  ['# a\nb', 'B#B Ba\nb'],
  ['#a', '#a'],
  ['a # b', 'a # b'],
  ['####### a', '####### a'],
  ['```\na\n```\nb', 'D`D`D`\nDa\nD`D`D`\nb'],
  ['`**`', 'C`C*C*C`'],
  ['* a\n* b', '* a\n* b'],
  ['a **b\nc', 'a B*B*Bb\nc'],
  ['2 * 3', '2 * 3'],
])('%j is painted as %j', (text, expected) => {
  expect(painted(text)).toBe(expected)
})

test.each([
  '**bold** and `code`, ***three***, # no heading',
  '# Heading\n## Another **one**\n###no heading\n',
  'before\n```js\nconst a = `b` * 2 ** 3 // # c\n```\nafter `x`',
  '````four```` ``````six`````` ``',
  '####### seven\n######\n# ',
  '**',
])('%j looks the same, wherever it is divided', (text) => {
  const whole = painted(text)
  for (let first = 0; first <= text.length; first++)
    for (let second = first; second <= text.length; second++)
      expect(painted(text.slice(0, first), text.slice(first, second), text.slice(second))).toBe(whole)
  expect(painted(...text)).toBe(whole)
})

test('the end of a text ends its styles', () => {
  const stream = new MarkdownStream(SIGNS)
  expect(stream.push('```\na') + stream.end()).toBe('D`D`D`\nDa')
  expect(stream.push('b') + stream.end()).toBe('b')
})
