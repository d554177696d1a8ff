import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { cutText, MAX_ESCAPE_BYTES, stripAnsi, TextStream } from '../../../src/command/output/text.ts'

const ALL = { maxChars: Number.POSITIVE_INFINITY, ansi: 'keep', final: true } as const

describe('cutting a text', () => {
  test('never splits a character, and returns where it stopped', () => {
    const bytes = Buffer.from('aé漢😀z')
    const cuts = [0, 1, 2, 3, 4, 5, 6].map((maxChars) => cutText(bytes, { ...ALL, maxChars }))
    expect(cuts.map(({ text }) => text)).toEqual(['', 'a', 'aé', 'aé漢', 'aé漢😀', 'aé漢😀z', 'aé漢😀z'])
    expect(cuts.map(({ used }) => used)).toEqual([0, 1, 3, 6, 10, 11, 11])
  })

  test('leaves a character alone that is not finished, unless nothing follows', () => {
    const bytes = Buffer.from('a😀').subarray(0, 4)
    expect(cutText(bytes, { ...ALL, final: false })).toEqual({ text: 'a', chars: 1, used: 1 })
    expect(cutText(bytes, ALL)).toEqual({ text: 'a\ufffd', chars: 2, used: 4 })
  })

  test('makes bytes that are no text to U+FFFD, as any decoder does', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), fc.integer({ min: 1, max: 50 }), (array, maxChars) => {
        const bytes = Buffer.from(array)
        const whole = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes)
        expect(cutText(bytes, ALL).text).toBe(whole)
        const first = cutText(bytes, { ...ALL, maxChars })
        expect(first.text).toBe([...whole].slice(0, maxChars).join(''))
        expect(first.text + cutText(bytes.subarray(first.used), ALL).text).toBe(whole)
      }),
      { numRuns: 2000 },
    )
  })

  test('counts no stripped sequence as a character', () => {
    const bytes = Buffer.from('\x1b[31mab\x1b[0mcd')
    const { text, chars, used } = cutText(bytes, { maxChars: 3, ansi: 'strip', final: true })
    expect({ text, chars, used }).toEqual({ text: 'abc', chars: 3, used: 12 })
  })

  test('holds back a sequence that is not finished, up to a bound', () => {
    const open = Buffer.from('a\x1b]0;title')
    expect(cutText(open, { ...ALL, ansi: 'strip', final: false })).toEqual({ text: 'a', chars: 1, used: 1 })
    expect(cutText(open, { ...ALL, ansi: 'strip', final: true })).toEqual({ text: 'a', chars: 1, used: 10 })
    const endless = Buffer.from(`a\x1b]0;${'t'.repeat(MAX_ESCAPE_BYTES)}`)
    expect(cutText(endless, { ...ALL, ansi: 'strip', final: false }).used).toBe(endless.length)
  })
})

describe('stripping', () => {
  test.each([
    ['colours', '\x1b[1;31mred\x1b[0m', 'red'],
    ['colours with colons and many parameters', '\x1b[38:2::255:0:0;48;5;12345678mx', 'x'],
    ['cursor and modes', '\x1b[2J\x1b[H\x1b[?25l\x1b[>4;2m\x1b[!px', 'x'],
    ['a title that BEL ends', 'a\x1b]0;my title: ~/x\x07b', 'ab'],
    ['a title that ST ends', 'a\x1b]2;my title\x1b\\b', 'ab'],
    ['a hyperlink', '\x1b]8;;https://example.com/?q=1\x1b\\link\x1b]8;;\x1b\\.', 'link.'],
    ['a device control string', 'a\x1bPq#0;2;0;0;0\x1b\\b', 'ab'],
    ['an application command', 'a\x1b_Gf=100;AAAA\x1b\\b', 'ab'],
    ['character sets and keypad', '\x1b(B\x1b)0\x1b=\x1b>\x1b7\x1b8\x1bMx', 'x'],
    ['sequences of one character', 'a\u009b31mb\u009d0;t\u009cc', 'abc'],
    ['a sequence that another breaks off', 'a\x1b[3\x1b[31mb', 'ab'],
    ['a title that a line end breaks off', 'a\x1b]0;never\nb', 'a\nb'],
    ['a sequence that a letter of another script breaks off', '\x1b[31éa', 'éa'],
    ['an escape alone', 'a\x1b', 'a'],
    ['no carriage return, no backspace, no tab', 'a\r\b\tb', 'a\r\b\tb'],
    ['nothing where there is nothing', 'plain é漢😀', 'plain é漢😀'],
  ])('takes out %s', (_, text, bare) => {
    expect(stripAnsi(text)).toBe(bare)
  })
})

describe('a stream of text', () => {
  test('joins a character that was split into single bytes', () => {
    const stream = new TextStream('keep')
    const parts = [...Buffer.from('é漢😀')].map((byte) => stream.write(Buffer.of(byte)))
    expect(parts.join('|')).toBe('|é|||漢||||😀')
    expect(stream.end()).toBe('')
  })

  test('ends a character that never was finished as U+FFFD', () => {
    const stream = new TextStream('keep')
    expect(stream.write(Buffer.of(0xe6, 0xbc))).toBe('')
    expect(stream.heldBytes).toBe(2)
    expect(stream.end()).toBe('\ufffd')
    expect(stream.write(Buffer.from('x'))).toBe('x')
  })

  test('gives the same text however its bytes were cut', () => {
    const part = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom('\x1b[31m', '\x1b]0;a title\x07', '\x1bP1\x1b\\', '\x1b(B', '\u009b1m', '\n', '\x1b'),
    )
    fc.assert(
      fc.property(
        fc.array(part, { maxLength: 8 }),
        fc.array(fc.nat(40), { maxLength: 8 }),
        fc.constantFrom('keep', 'strip'),
        (parts, lengths, ansi) => {
          const bytes = Buffer.from(parts.join(''))
          const stream = new TextStream(ansi)
          let text = ''
          let at = 0
          for (const length of [...lengths, bytes.length]) {
            text += stream.write(bytes.subarray(at, at + length))
            at += length
          }
          expect(text + stream.end()).toBe(cutText(bytes, { ...ALL, ansi }).text)
        },
      ),
      { numRuns: 2000 },
    )
  })
})
