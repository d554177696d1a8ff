import { expect, test } from 'vitest'
import { EscapeFilter, neutral, neutralJson, neutralLine } from '../../../src/cli/print/neutral.ts'

const ESC = '\u001b'

test.for([
  ['plain text', 'a line\twith a tab', 'a line\twith a tab'],
  [
    'colours',
    `${ESC}[1;31mred${ESC}[0m ${ESC}[38;2;1;2;3mtrue${ESC}[m`,
    `${ESC}[1;31mred${ESC}[0m ${ESC}[38;2;1;2;3mtrue${ESC}[m`,
  ],
  ['colours by number', `${ESC}[38;5;8;48:5:8mgrey${ESC}[4:3m`, `${ESC}[38;5;8;48:5:8mgrey${ESC}[4:3m`],
  ['concealed text', `a${ESC}[8mhidden`, 'ahidden'],
  ['concealment in other spellings', `a${ESC}[08mhidden${ESC}[8:1mtoo${ESC}[1:8m.`, 'ahiddentoo.'],
  [
    'concealment beside a colour',
    `${ESC}[1;8;31mhidden${ESC}[38;5;8;8mtoo`,
    `${ESC}[1;31mhidden${ESC}[38;5;8mtoo`,
  ],
  ['concealment in a colour that is not complete', `a${ESC}[38;8mb${ESC}[38;2;1;8mc${ESC}[38:5;8md`, 'abcd'],
  ['a font', `a${ESC}[11;32mb`, `a${ESC}[32mb`],
  ['the clipboard', `a${ESC}]52;c;cm0gLXJm\u0007b`, 'ab'],
  ['a title that ST ends', `a${ESC}]0;owned${ESC}\\b`, 'ab'],
  ['a title of C1 characters', 'a\u009d0;owned\u009cb', 'ab'],
  ['cursor moves', `a${ESC}[2J${ESC}[1;1H${ESC}[3Ab`, 'ab'],
  ['a colour of C1 characters', 'a\u009b31mb', `a${ESC}[31mb`],
  ['a private sequence that ends like a colour', `a${ESC}[>4;2mb`, 'ab'],
  ['a device control string', `a${ESC}P+q544e${ESC}\\b`, 'ab'],
  ['a character set', `a${ESC}(0b`, 'ab'],
  ['a hyperlink', `${ESC}]8;;https://x.example${ESC}\\text${ESC}]8;;${ESC}\\`, 'text'],
  ['a sequence within another', `a${ESC}[${ESC}]52;c;x\u0007b`, 'ab'],
  ['a string that an escape breaks off', `a${ESC}]0;x${ESC}[31mb`, `a${ESC}[31mb`],
  ['a string that a line end breaks off', `a${ESC}]0;x\nb`, 'a\nb'],
  ['a sequence that never ends', `a${ESC}]52;c;x`, 'a'],
  ['control characters', 'a\u0000\u0007\b\u007f\r\u0085b', 'a^@^G^H^?^M<U+0085>b'],
  ['marks of direction', 'a\u061cb\u200ec\u200fd', 'a<U+061C>b<U+200E>c<U+200F>d'],
  ['bidirectional overrides', 'a\u202egpj.exe\u2066b', 'a<U+202E>gpj.exe<U+2066>b'],
] as const)('a terminal is given of %s only what is harmless', ([, text, shown]) => {
  expect(neutral(text)).toBe(shown)
})

test('a filter gives the same for a text in pieces of any size', () => {
  const text = `a${ESC}[31mred${ESC}[0m\r\n${ESC}]52;c;x\u0007b${ESC}[2J\u202ec\u009b1md${ESC}P1${ESC}\\e`
  const whole = new EscapeFilter('output')
  const expected = whole.take(text) + whole.end()
  for (let size = 1; size < text.length; size++) {
    const filter = new EscapeFilter('output')
    let shown = ''
    for (let at = 0; at < text.length; at += size) shown += filter.take(text.slice(at, at + size))
    expect(shown + filter.end(), `pieces of ${size}`).toBe(expected)
  }
  expect(expected).toBe(`a${ESC}[31mred${ESC}[0m\r\nb<U+202E>c${ESC}[1mde${ESC}[0m`)
})

test('colours that a line leaves on end with it', () => {
  expect(neutralLine(`${ESC}[31mred`)).toBe(`${ESC}[31mred${ESC}[0m`)
  expect(neutralLine('plain')).toBe('plain')
})

test('JSON for a terminal has the same value and no character that a terminal acts on', () => {
  const value = { text: 'a\u009d52;c;x\u009c\u202eb\u007f\u061c\u200f' }
  const text = neutralJson(JSON.stringify(value))
  expect(JSON.parse(text)).toEqual(value)
  expect(text).toBe('{"text":"a\\u009d52;c;x\\u009c\\u202eb\\u007f\\u061c\\u200f"}')
})
