import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { CleanRanges } from '../../src/command/output/clean-ranges.ts'
import { followOutput } from '../../src/command/output/follow.ts'
import { readLines } from '../../src/command/output/lines.ts'
import { HeldBack, HOLD_MS, type Masking } from '../../src/command/output/masking.ts'
import { readSince } from '../../src/command/output/poll.ts'
import { readRange } from '../../src/command/output/read.ts'
import { searchLines } from '../../src/command/output/search.ts'
import { LOOK_AHEAD_BYTES, Masker } from '../../src/redaction/masker.ts'
import { LogWriter } from '../command/output/log-writer.ts'
import { tempFolder } from '../temp-folder.ts'
import { INNOCENTS, invented, SECRETS, shows } from './corpus.ts'

const masker = new Masker()
const FINAL: Masking = { masker, final: true, mayShow: () => true }
const live = (mayShow: Masking['mayShow']): Masking => ({ masker, final: false, mayShow })
const ALL = SECRETS.map(({ text }) => text).join('\nsome text in between\n')
const TOGETHER = { secrets: SECRETS.flatMap(({ secrets }) => secrets) }

describe('a log with every secret in it', () => {
  test('shows none of them, for a read from any byte', async () => {
    const log = new LogWriter(tempFolder()).write(ALL)
    const whole = masker.bytes(Buffer.from(ALL))
    for (let from = 0; from < log.end; from += 13) {
      const { bytes, offset } = await readRange(log.folder, from, 100, FINAL)
      expect([from, bytes.toString('latin1')]).toEqual([
        from,
        whole.subarray(offset, offset + bytes.length).toString('latin1'),
      ])
    }
    expect(shows(whole.toString(), TOGETHER)).toBe(false)
  })

  test('reads the same in pieces of any size, over segments of any size', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 500, max: 5_000 }),
        fc.integer({ min: 300, max: 3_000 }),
        async (segmentBytes, size) => {
          const log = new LogWriter(tempFolder(), { headBytes: segmentBytes, segmentBytes }).write(ALL)
          const parts: Buffer[] = []
          for (let at = 0; at < log.end; ) {
            const { bytes, next } = await readRange(log.folder, at, size, FINAL)
            parts.push(bytes)
            at = next
          }
          const whole = masker.bytes(Buffer.from(ALL)).toString('latin1')
          expect(Buffer.concat(parts).toString('latin1')).toBe(whole)
        },
      ),
      { numRuns: 10 },
    )
  })

  test('shows none of them in a poll, in lines, or in a search, and a search finds none', async () => {
    const { folder } = new LogWriter(tempFolder()).write(ALL)
    const poll = await readSince(folder, 0, {
      maxChars: 1_000_000,
      ansi: 'strip',
      ended: true,
      masking: FINAL,
    })
    expect(poll.text).toContain('some text in between')
    expect(shows(poll.text, TOGETHER)).toBe(false)
    const page = {
      from: 'start',
      offset: 0,
      limit: 10_000,
      ansi: 'keep',
      ended: true,
      masking: FINAL,
    } as const
    expect(shows(JSON.stringify(await readLines(folder, page)), TOGETHER)).toBe(false)
    const everything = { pattern: '.', limit: 1_000, context: 1, ended: true, masking: FINAL }
    expect(shows(JSON.stringify(await searchLines(folder, everything)), TOGETHER)).toBe(false)
    for (const text of TOGETHER.secrets)
      expect(await searchLines(folder, { text, limit: 1, ended: true, masking: FINAL })).toMatchObject({
        total: 0,
      })
  })

  test('is unmasked for a reader that may see it', async () => {
    const { folder } = new LogWriter(tempFolder()).write(ALL)
    expect((await readRange(folder, 0, 1_000_000)).bytes.toString()).toBe(ALL)
  })
})

describe('a log whose streams are kept apart', () => {
  const TAGGED: Masking = { ...FINAL, tagged: true }
  const log = (parts: readonly (readonly ['stdout' | 'stderr', string])[], caps = {}) =>
    parts.reduce((writer, [stream, data]) => writer.tagged(stream, data), new LogWriter(tempFolder(), caps))

  test.each(SECRETS)(
    'shows nothing of $name with the other stream in between, wherever that is',
    async (printed) => {
      const text = `${printed.text}\n`
      const [longest = ''] = [...printed.secrets].sort((one, other) => other.length - one.length)
      const begins = text.indexOf(longest)
      for (const cut of [begins + 1, begins + Math.floor(longest.length / 2), begins + longest.length - 1]) {
        const { folder, end } = log([
          ['stdout', text.slice(0, cut)],
          ['stderr', 'warning: something else\n'],
          ['stdout', text.slice(cut)],
        ])
        const whole = await readRange(folder, 0, end, TAGGED)
        expect(whole.bytes.toString()).toContain('warning: something else\n')
        const page = {
          from: 'start',
          offset: 0,
          limit: 1_000,
          ansi: 'strip',
          ended: true,
          masking: TAGGED,
        } as const
        const alone = await readLines(folder, { ...page, stream: 'stdout' })
        const both = await readLines(folder, page)
        for (const lines of [alone.lines, both.lines]) {
          const seen = lines.map((line) => line.text).join('\n')
          expect([cut, shows(seen, printed)]).toEqual([cut, false])
        }
        const apart = `${whole.bytes.toString('latin1').replace('warning: something else\n', '')}`
        expect(apart).toBe(masker.bytes(Buffer.from(text)).toString('latin1'))
      }
    },
  )

  test('holds back the possible beginning of a secret', async () => {
    const secret = invented('tagged', 36)
    const writer = log([
      ['stdout', `ghp_${secret.slice(0, 10)}`],
      ['stderr', 'a line\n'],
    ])
    const held = await readRange(writer.folder, 0, 1_000, { ...live(() => false), tagged: true })
    expect(held.bytes.toString()).toBe('ghp_')
    const shown = await readRange(writer.folder, 0, 1_000, { ...live(() => true), tagged: true })
    expect(shown.bytes.toString()).toBe(`ghp_${'*'.repeat(10)}a line\n`)
    writer.tagged('stdout', `${secret.slice(10)}\n`)
    const rest = await readRange(writer.folder, shown.next, 1_000, { ...live(() => true), tagged: true })
    expect(rest.bytes.toString()).toBe(`${'*'.repeat(26)}\n`)
  })
})

const BASE64 = 'QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVphYmNkZWZnaGlqa2xtbm9wcXJz\n'

describe('a log that was read before', () => {
  const text = `${'nothing to hide here\n'.repeat(20_000)}`
  const readAll = async (folder: string, masking: Masking, size: number, from = 0) => {
    const parts: Buffer[] = []
    for (let at = from; ; ) {
      const { bytes, next } = await readRange(folder, at, size, masking)
      if (bytes.length === 0) return Buffer.concat(parts).toString('latin1')
      parts.push(bytes)
      at = next
    }
  }

  test('reads the same again in pieces of any size, in any order', async () => {
    const whole = text + ALL + text + ALL
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.integer({ min: 5_000, max: 300_000 }), fc.nat(whole.length - 1)), {
          minLength: 2,
          maxLength: 4,
        }),
        async (reads) => {
          const { folder } = new LogWriter(tempFolder(), { headBytes: 70_000, segmentBytes: 70_000 }).write(
            whole,
          )
          const masking = { ...FINAL, cleanRanges: new CleanRanges() }
          for (const [size, from] of reads)
            expect(await readAll(folder, masking, size, from)).toBe(await readAll(folder, FINAL, size, from))
        },
      ),
      { numRuns: 8, endOnFailure: true },
    )
  })

  test('masks a value that became known as a secret later', async () => {
    const secret = 'nothing-to-hide-but-this'
    const { folder } = new LogWriter(tempFolder()).write(`${text}${secret}\n${text}`)
    const clean = new CleanRanges()
    expect(await readAll(folder, { ...FINAL, cleanRanges: clean }, 100_000)).toContain(secret)
    const knowing = { ...FINAL, cleanRanges: clean, masker: new Masker({ values: [secret] }) }
    expect(await readAll(folder, knowing, 100_000)).not.toContain(secret)
  })

  test('is not scanned again where it was clean, and is where it was not', async () => {
    const clean = new CleanRanges()
    const { folder } = new LogWriter(tempFolder()).write(`${text}${ALL}\n${text}`)
    await readAll(folder, { ...FINAL, cleanRanges: clean }, 100_000)
    expect(clean.reach(masker, folder, 0)).toBeGreaterThan(300_000)
    expect(clean.reach(masker, folder, 0)).toBeLessThanOrEqual(text.length)
    expect(clean.reach(masker, folder, text.length + 1)).toBe(text.length + 1)
    expect(clean.reach(masker, folder, 600_000)).toBe(text.length * 2 + ALL.length + 1 - LOOK_AHEAD_BYTES)
    expect(clean.reach(masker, 'another', 0)).toBe(0)
  })

  test('reads the same while it grows, before and after its end, as a first read', async () => {
    const key = SECRETS.flatMap(({ text }) => (text.includes('PRIVATE KEY') ? [text] : []))
    const begunBefore = key.map((text) => text.slice(text.indexOf('\n') + 1))
    const value = 'correct-horse-battery-staple'
    const knowing = new Masker({ values: [value] })
    const piece = fc.oneof(
      fc.constantFrom(...SECRETS.map(({ text }) => text), ...begunBefore, value),
      fc.integer({ min: 1, max: 5_000 }).map((lines) => 'nothing to hide\n'.repeat(lines)),
      fc.integer({ min: 1, max: 400 }).map((lines) => BASE64.repeat(lines)),
    )
    const written = fc.record({
      text: piece,
      // How much has been written when it is read.
      first: fc.double({ min: 0, max: 1, noNaN: true }),
      stream: fc.constantFrom('stdout' as const, 'stderr' as const),
      final: fc.boolean(),
    })
    // The same for all reads of a log: pages of another size look ahead to other bytes, and may mask more.
    const pageSize = fc.constantFrom(5_000, 70_000, 256 * 1024, 1024 * 1024)
    await fc.assert(
      fc.asyncProperty(
        fc.array(written, { minLength: 2, maxLength: 8 }),
        fc.boolean(),
        pageSize,
        async (all, tagged, size) => {
          const log = new LogWriter(tempFolder())
          const cleanRanges = new CleanRanges()
          const put = (stream: 'stdout' | 'stderr', text: string) =>
            tagged ? log.tagged(stream, text) : log.write(text)
          for (const { text, first, stream, final } of all) {
            const cut = Math.floor(text.length * first)
            for (const part of [text.slice(0, cut), text.slice(cut)]) {
              if (part !== '') put(stream, part)
              const masking: Masking = { masker: knowing, tagged, final, mayShow: () => true }
              expect(await readAll(log.folder, { ...masking, cleanRanges }, size)).toBe(
                await readAll(log.folder, masking, size),
              )
            }
          }
        },
      ),
      { numRuns: 15, endOnFailure: true },
    )
  })

  test.each([
    ['a value', 'correct-horse-battery-staple-0', '123456789\n'],
    ['a token', 'token ghp_', '0123456789012345678901234567890123456789\n'],
    ['a key', BASE64.repeat(40), '-----END PRIVATE KEY-----\n'],
  ])('%s that becomes one behind the end of its process is masked', async (_, before, after) => {
    const masking = { ...FINAL, masker: new Masker({ values: ['correct-horse-battery-staple-0123456789'] }) }
    const size = 1_000
    // So that a page ends with the first half.
    const rest = size - ((text.length + before.length) % size)
    const log = new LogWriter(tempFolder()).write(`${text}${'.'.repeat(rest - 1)}\n${before}`)
    const cleanRanges = new CleanRanges()
    await readAll(log.folder, { ...masking, cleanRanges }, size)
    log.write(after)
    const again = await readAll(log.folder, { ...masking, cleanRanges }, size)
    expect(again).toBe(await readAll(log.folder, masking, size))
    expect(again).toMatch(/\*{30}/)
  })
})

test('text without secrets reads as it was written', async () => {
  const text = INNOCENTS.join('\n')
  const { folder } = new LogWriter(tempFolder(), { segmentBytes: 5_000 }).write(text)
  const poll = { maxChars: 1_000_000, ansi: 'keep', ended: true, masking: FINAL } as const
  expect((await readSince(folder, 0, poll)).text).toBe(text)
})

test('the rest of a key whose beginning was removed is masked up to its end', async () => {
  const key = SECRETS.find(({ name }) => name.includes('RSA'))
  if (key === undefined) throw new Error('There is no such key')
  const caps = { headBytes: 100, tailBytes: 2_000, segmentBytes: 500 }
  const { folder } = new LogWriter(tempFolder(), caps).write(`${'x\n'.repeat(100)}${key.text}\nend\n`)
  const behind = await readRange(folder, 150, 10_000, FINAL)
  expect(behind.gap).not.toBeNull()
  let text = ''
  for (let at = behind.offset; ; ) {
    const { bytes, next } = await readRange(folder, at, 10_000, FINAL)
    if (next === at) break
    // The line at the gap has lost the beginning that identifies it.
    text += bytes.toString()
    at = next
  }
  expect(text).toContain('end\n')
  expect(shows(text.slice(text.indexOf('\n')), key)).toBe(false)
})

describe('a log that grows', () => {
  const secret = invented('grows', 36)

  test('holds back a possible secret, and shows it masked when it has become one', async () => {
    const log = new LogWriter(tempFolder()).write(`a line\nand ghp_${secret.slice(0, 10)}`)
    const held = await readRange(
      log.folder,
      0,
      1_000,
      live(() => false),
    )
    expect(held).toMatchObject({ next: 15, end: 15 })
    expect(held.bytes.toString()).toBe('a line\nand ghp_')
    log.write(`${secret.slice(10)} there`)
    const rest = await readRange(
      log.folder,
      held.next,
      1_000,
      live(() => false),
    )
    expect(rest.bytes.toString()).toBe(`${'*'.repeat(36)} there`)
  })

  test('shows bytes that were held back long enough, but not the beginning of a secret', async () => {
    const log = new LogWriter(tempFolder()).write(`and ghp_${secret.slice(0, 10)}`)
    const shown = await readRange(
      log.folder,
      0,
      1_000,
      live(() => true),
    )
    expect(shown.bytes.toString()).toBe(`and ghp_${'*'.repeat(10)}`)
    log.write(secret.slice(10))
    const rest = await readRange(
      log.folder,
      shown.next,
      1_000,
      live(() => true),
    )
    expect(rest.bytes.toString()).toBe('*'.repeat(26))
  })

  test('shows a prompt at once', async () => {
    for (const prompt of ['Password: ', '$ ', 'Continue? [Y/n] ', 'listening on port 3000'])
      expect(
        (
          await readRange(
            new LogWriter(tempFolder()).write(prompt).folder,
            0,
            100,
            live(() => false),
          )
        ).bytes.toString(),
      ).toBe(prompt)
  })

  test('follows byte by byte to the same text as a read of the whole, once it has ended', async () => {
    const log = new LogWriter(tempFolder())
    const text = `x\nTOKEN=${secret}\nurl http://u:${secret}@h/ ghp_${secret}`
    let at = 0
    let clock = 0
    const held = new HeldBack(() => clock)
    const wake = async () => {
      clock += HOLD_MS / 8
      if (at < text.length) log.write(text.slice(at, ++at))
    }
    const ended = () => (at < text.length ? null : text.length)
    const signal = new AbortController().signal
    const masking = live((folder, offset) => held.mayShow(folder, offset, clock))
    let shown = ''
    for await (const { bytes } of followOutput(log.folder, { from: 0, signal, wake, ended, masking }))
      shown += bytes.toString('latin1')
    expect(shows(shown, { secrets: [secret] })).toBe(false)
    expect(shown).toHaveLength(text.length)
    expect(shown.slice(0, 8)).toBe('x\nTOKEN=')
  })
})

test('an unfinished end is held back from when it was first seen, and no longer', () => {
  let now = 1_000_000
  const held = new HeldBack(() => now)
  expect(held.mayShow('log', 5, now)).toBe(false)
  now += HOLD_MS - 1
  expect(held.mayShow('log', 5, now)).toBe(false)
  now += 1
  expect(held.mayShow('log', 5, now)).toBe(true)
  expect(held.mayShow('log', 9, now)).toBe(false)
  expect(held.mayShow('other', 9, now - HOLD_MS)).toBe(true)
})
