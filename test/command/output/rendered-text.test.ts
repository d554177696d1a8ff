import xterm from '@xterm/headless'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readLines } from '../../../src/command/output/lines.ts'
import { readSince } from '../../../src/command/output/poll.ts'
import { RenderedText } from '../../../src/command/output/rendered-text.ts'
import { Masker } from '../../../src/redaction/masker.ts'
import { tempFolder } from '../../temp-folder.ts'
import { LogWriter } from './log-writer.ts'

function rendered(text: string, maxChars = 10_000): string {
  const screen = new RenderedText(maxChars)
  screen.add(Buffer.from(text), true)
  return screen.text
}

test.each([
  ['a line end of a terminal', 'one\r\ntwo\r\n', 'one\ntwo\n'],
  ['a progress bar', ' 10%\r 50%\r100%\n', '100%\n'],
  ['a bar that was longer before', 'downloading\r\x1b[Kdone\n', 'done\n'],
  ['a bar that is erased with blanks', 'downloading\rdone       \nnext', 'done\nnext'],
  ['what is shorter than before', 'abcdef\rxyz', 'xyzdef'],
  ['a whole line that is erased', 'downloading\x1b[2K\rdone', 'done'],
  ['a backspace', 'passwort\bd', 'password'],
  ['colours', '\x1b[1;31mred\x1b[0m plain', 'red plain'],
  ['a title and a link', '\x1b]0;title\x07\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\', 'link'],
  ['several bars', 'a 1%\nb 1%\n\x1b[2Aa 9%\nb 9%\n', 'a 9%\nb 9%\n'],
  ['what is erased below', 'a\nb\nc\x1b[2A\r\x1b[Jd', 'd'],
  ['a column', 'abc\x1b[2Gx\x1b[6Gy', 'axc  y'],
  ['a screen that is cleared', 'before\x1b[2J\x1b[Hafter', 'before\nafter'],
  ['a line editor', 'abcd\x1b[3D\x1b[1Px', 'axd'],
  ['bells and NULs', 'a\x07b\0c', 'abc'],
  ['tabs', 'a\tb', 'a\tb'],
  ['characters of several bytes', 'é漢😀\r漢', '漢漢😀'],
  ['a control character of two bytes', '\u0085', ''],
])('%s: as a terminal shows it', (_, printed, shown) => {
  expect(rendered(printed)).toBe(shown)
})

test('a sequence or a character that is not finished waits, and is dropped at the end', () => {
  const screen = new RenderedText(100)
  expect(screen.add(Buffer.from('a\x1b[3'), false)).toBe(1)
  expect(screen.add(Buffer.from('\x1b[31mb'), false)).toBe(6)
  expect(screen.add(Buffer.from('漢').subarray(0, 2), false)).toBe(0)
  expect(screen.text).toBe('ab')
  expect(screen.add(Buffer.from('\x1b[3'), true)).toBe(3)
  expect(screen.text).toBe('ab')
})

test('plain text is shown as it is, for any cuts, up to the requested size', () => {
  const text = fc.string({ unit: 'grapheme' }).map((one) => one.replaceAll(/\p{Cc}/gu, '\n'))
  fc.assert(
    fc.property(text, fc.integer({ min: 10, max: 40 }), (printed, most) => {
      const bytes = Buffer.from(printed)
      let [at, all] = [0, '']
      while (at < bytes.length) {
        const screen = new RenderedText(most)
        const used = screen.add(bytes.subarray(at), true)
        expect(used).toBeGreaterThan(0)
        expect(screen.text.length).toBeLessThanOrEqual(most)
        all += bytes.toString('utf8', at, at + used)
        at += used
      }
      expect(all).toBe(printed)
    }),
  )
})

test('overprinted text is rendered as a terminal shows it', async () => {
  const words = fc.string({ unit: fc.constantFrom('a', 'b', 'c', ' ', '0', 'é'), maxLength: 6 })
  const moves = fc.constantFrom(
    ...[
      '\r',
      '\b',
      '\b\b\b',
      '\r\n',
      '\x1b[K',
      '\x1b[0K',
      '\x1b[2K',
      '\x1b[C',
      '\x1b[3C',
      '\x1b[D',
      '\x1b[2D',
    ],
    '\x1b[G',
    '\x1b[5G',
    '\x1b[A',
    '\x1b[2A',
    '\x1b[F',
    '\x1b[P',
    '\x1b[2P',
    '\x1b[2@',
    '\x1b[2X',
    ...['\x1b[J', '\x1b[0J', '\x1b[31m', '\x1b[?25l', '\x1b]0;title\x07', '\x1b(B', '\x07'],
  )
  await fc.assert(
    fc.asyncProperty(fc.array(fc.oneof(words, moves), { maxLength: 30 }), async (printed) => {
      const text = printed.join('')
      expect(trimmed(rendered(text))).toBe(trimmed(await seenIn(text)))
    }),
    { numRuns: 500 },
  )
})

/** What a terminal shows that is wide and high enough for everything that is printed. Down is left out: at its bottom it would stay there. */
async function seenIn(text: string): Promise<string> {
  const terminal = new xterm.Terminal({ cols: 250, rows: 60, allowProposedApi: true })
  await new Promise<void>((resolve) => terminal.write(text, resolve))
  const { active } = terminal.buffer
  const lines = Array.from({ length: 60 }, (_, row) => active.getLine(row)?.translateToString(true) ?? '')
  terminal.dispose()
  return lines.join('\n')
}

function trimmed(text: string): string {
  return text
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n')
    .trimEnd()
}

test('a poll passes over a long progress bar in one answer, and goes on where it stopped', async () => {
  const bars = Array.from({ length: 5_000 }, (_, index) => `\r${index} of 5000`).join('')
  const log = new LogWriter(tempFolder()).write(`begin\n${bars}`)
  const options = { maxChars: 200, ansi: 'render' } as const
  const first = await readSince(log.folder, 0, options)
  expect(first).toMatchObject({ text: 'begin\n4999 of 5000', more: false })
  log.write('\r5000 of 5000\nend\n')
  expect(await readSince(log.folder, first.next, options)).toMatchObject({ text: '5000 of 5000\nend\n' })
})

test('polls of rendered lines make up all of them, and none twice', async () => {
  const lines = Array.from({ length: 100 }, (_, index) => `\x1b[32mline ${index}\x1b[0m\r\n`)
  const { folder } = new LogWriter(tempFolder()).write(lines.join(''))
  let [at, all, more] = [0, '', true]
  while (more) {
    const page = await readSince(folder, at, { maxChars: 50, ansi: 'render', ended: true })
    expect(page.text.length).toBeLessThanOrEqual(50)
    expect(page.text).toMatch(/^(line \d+\n)+$/)
    all += page.text
    ;[at, more] = [page.next, page.more]
  }
  expect(all).toBe(Array.from({ length: 100 }, (_, index) => `line ${index}\n`).join(''))
})

test('a line that is longer than a page is shown in parts, each once', async () => {
  const long = 'x'.repeat(120)
  const { folder } = new LogWriter(tempFolder()).write(`a\n${long}\nb\n`)
  let [at, all, more] = [0, '', true]
  while (more) {
    const page = await readSince(folder, at, { maxChars: 50, ansi: 'render', ended: true })
    all += page.text
    ;[at, more] = [page.next, page.more]
  }
  expect(all).toBe(`a\n${long}\nb\n`)
})

test('a secret that is put together by printing over other text is masked, too', async () => {
  const masker = new Masker({ values: ['correct-horse-battery'] })
  const masking = { masker, tagged: false, final: true, mayShow: () => true }
  const { folder } = new LogWriter(tempFolder()).write('xxxxxxx-horse-battery\rcorrect\n')
  const poll = await readSince(folder, 0, { maxChars: 200, ansi: 'render', ended: true, masking })
  const log = await readLines(folder, {
    from: 'start',
    offset: 0,
    limit: 10,
    ansi: 'render',
    ended: true,
    masking,
  })
  for (const text of [poll.text, log.lines[0]?.text]) {
    expect(text).not.toContain('correct-horse')
    expect(text).toContain('***')
  }
})

/** The bytes of a page, and what the page shows of them. */
function pagesOf(bytes: Buffer, maxChars: number): { bytes: Buffer; text: string }[] {
  const pages = []
  let at = 0
  while (at < bytes.length) {
    const screen = new RenderedText(maxChars)
    const used = screen.add(bytes.subarray(at), true) - screen.giveBackLine()
    expect(used).toBeGreaterThan(0)
    pages.push({ bytes: bytes.subarray(at, at + used), text: screen.text })
    at += used
  }
  return pages
}

test('a last line that the cursor came back to keeps its earlier text', () => {
  const printed = 'a1: pulling\nb2: pulling\nc3: pulling\x1b[2A\r\n\n\x1b[12Cdone, extracting'
  const [first] = pagesOf(Buffer.from(printed), 40)
  expect(first?.text).toContain('c3: pulling')
})

test('wherever output is cut into pages, each page shows all that its bytes print', () => {
  const word = fc.string({ unit: fc.constantFrom(...'abcdefgh'), minLength: 1, maxLength: 12, size: 'max' })
  const move = fc.constantFrom(
    '\r',
    '\b',
    '\x1b[3B',
    '\x1b[C',
    '\x1b[12C',
    '\x1b[D',
    '\x1b[E',
    '\x1b[F',
    '\x1b[G',
    '\x1b[K',
    '\x1b[2K',
    '\x1b[J',
    '\x1b[2J',
    '\x1b[H',
    '\x1b[2P',
    '\x1b[3@',
    '\x1b[2X',
  )
  const output = fc.array(
    fc.oneof(
      { weight: 4, arbitrary: word },
      { weight: 3, arbitrary: fc.constant('\n') },
      { weight: 2, arbitrary: fc.constantFrom('\x1b[A', '\x1b[2A') },
      { weight: 2, arbitrary: move },
    ),
    { maxLength: 60, size: 'max' },
  )
  fc.assert(
    fc.property(output, fc.integer({ min: 10, max: 60 }), (pieces, maxChars) => {
      for (const page of pagesOf(Buffer.from(pieces.join('')), maxChars))
        expect(page.text).toBe(rendered(page.bytes.toString(), Number.POSITIVE_INFINITY))
    }),
    { numRuns: 2_000 },
  )
})
