import { describe, expect, test } from 'vitest'
import { Screens } from '../../src/command/screen/screen.ts'
import { Masker } from '../../src/redaction/masker.ts'
import { LogWriter } from '../command/output/log-writer.ts'
import { tempFolder } from '../temp-folder.ts'
import { invented, SECRETS as PRINTED, shows } from './corpus.ts'

// A terminal does not draw NULs, so the texts around one join.
const SECRETS = PRINTED.filter(({ text }) => !text.includes('\0'))
const PID = 'p_aaaaaaaaaaaa'
const masker = new Masker()
const secret = invented('on a screen', 36)

function shown(text: string, options: object = {}) {
  const { folder } = new LogWriter(tempFolder()).write(text)
  return new Screens().show(PID, folder, { cols: 20, rows: 6, scrollback: 0, masker, ...options })
}

test('a token that is wider than the terminal is masked in all its rows', async () => {
  const { lines } = await shown(`token: ghp_${secret} end\r\n$ `)
  expect(lines).toEqual(['token: ghp_*********', '*'.repeat(20), '******* end', '$', '', ''])
})

test('a row whose line began above the window is masked by how it began', async () => {
  const { lines, scrollback } = await shown(`ghp_${secret}\r\n1\r\n2\r\n3\r\n4\r\n`, { scrollback: 1 })
  expect([...scrollback, ...lines]).toEqual(['ghp_****************', '*'.repeat(20), '1', '2', '3', '4', ''])
  expect((await shown(`ghp_${secret}\r\n1\r\n2\r\n3\r\n4\r\n`)).lines[0]).toBe('*'.repeat(20))
})

test('a line that a program broke itself at the last column is put together as well', async () => {
  const whole = `ghp_${secret}`
  const drawn = `\u001b[?1049h\u001b[1;1H${whole.slice(0, 20)}\u001b[2;1H${whole.slice(20)}\u001b[4;1Hstatus`
  const { lines, alternate } = await shown(drawn)
  expect(alternate).toBe(true)
  expect(lines).toEqual(['ghp_****************', '*'.repeat(20), '', 'status', '', ''])
})

test('a window title is masked, and other text stays', async () => {
  const { title, lines } = await shown(`\u001b]0;deploy with ghp_${secret}\u0007plain 日本 text\r\n`)
  expect(title).toBe(`deploy with ghp_${'*'.repeat(36)}`)
  expect(lines[0]).toBe('plain 日本 text')
})

test.each([20, 37, 80, 200])('no secret is seen on a terminal of %d columns', async (cols) => {
  for (const printed of SECRETS) {
    const text = `${printed.text.replaceAll('\n', '\r\n')}\r\n`
    const { lines, scrollback } = await shown(text, { cols, rows: 30, scrollback: 1_000 })
    const rows = [...scrollback, ...lines]
    expect([printed.name, shows(rows.join('\n'), printed), shows(rows.join(''), printed)]).toEqual([
      printed.name,
      false,
      false,
    ])
  }
})

describe('while a program prints', () => {
  test.each([
    ['the password of a URL', 'postgres://app:correcthorsebattery', `postgres://app:${'*'.repeat(19)}`],
    ['a token', `ghp_${secret.slice(0, 19)}`, `ghp_${'*'.repeat(19)}`],
    ['a value that was given', 'unshaped-value-of', '*'.repeat(17)],
    [
      'a token, with something to the right of the cursor',
      `\u001b[1;60H12:30\u001b[1;1Hghp_${secret.slice(0, 19)}`,
      `ghp_${'*'.repeat(19)}${' '.repeat(36)}12:30`,
    ],
    ['a token, with the cursor before it', `ghp_${secret.slice(0, 19)}\r`, `ghp_${'*'.repeat(19)}`],
  ])('%s that has only begun is masked', async (_, text, expected) => {
    const known = new Masker({ values: ['unshaped-value-of-mine'] })
    const { lines } = await shown(text, { cols: 80, masker: known, isLive: true })
    expect(lines[0]).toBe(expected)
  })

  test('a prompt, and text without secrets, stay as they are', async () => {
    for (const text of ['Password:', '$ curl http://localhost:3000', 'Continue? [Y/n]', 'a line\r\n$ ls -l'])
      expect((await shown(text, { cols: 80, isLive: true })).lines.join('\n').trim()).toBe(
        text.replaceAll('\r', ''),
      )
  })

  test.each([20, 80])('wherever it pauses, %d columns show no secret', async (cols) => {
    for (const printed of SECRETS) {
      const [secret] = [...printed.secrets].sort((one, other) => other.length - one.length)
      const from = printed.text.indexOf(secret ?? '')
      const screens = new Screens()
      const log = new LogWriter(tempFolder()).write(printed.text.slice(0, from).replaceAll('\n', '\r\n'))
      for (const piece of (secret ?? '').match(/.{1,3}/g) ?? []) {
        log.write(piece)
        const options = { cols, rows: 30, scrollback: 100, masker, isLive: true }
        const { lines, scrollback } = await screens.show(PID, log.folder, options)
        const rows = [...scrollback, ...lines]
        const seen = shows(rows.join('\n'), printed) || shows(rows.join(''), printed)
        expect([printed.name, log.end, seen]).toEqual([printed.name, log.end, false])
      }
      screens.forget(PID)
    }
  })
})

describe('a secret that the program wrote over in part', () => {
  test.each([
    ['a carriage return', `ghp_${secret}\rdone`, `done${'*'.repeat(36)}`],
    ['backspaces', `token=${secret}${'\b'.repeat(40)}ok`, undefined],
    ['a movement of the cursor', `ghp_${secret}\u001b[1;1Hover`, `over${'*'.repeat(36)}`],
    ['an insertion', `ghp_${secret}\r\u001b[4P`, '*'.repeat(36)],
  ])('shows nothing of it: %s', async (_, text, expected) => {
    const { lines } = await shown(`${text}\r\n`, { cols: 80 })
    expect(shows(lines.join('\n'), { secrets: [secret] })).toBe(false)
    if (expected !== undefined) expect(lines[0]).toBe(expected)
    expect((await shown(`${text}\r\n`, { cols: 80, masker: null })).lines[0]).toContain(secret.slice(-8))
  })

  test('shows nothing of it while it is printed in pieces, wherever it pauses', async () => {
    const screens = new Screens()
    const log = new LogWriter(tempFolder())
    for (const piece of `token: ghp_${secret}\rdone`.match(/[\s\S]{1,3}/g) ?? []) {
      log.write(piece)
      const options = { cols: 80, rows: 6, masker, isLive: true }
      const { lines } = await screens.show(PID, log.folder, options)
      expect([log.end, shows(lines.join('\n'), { secrets: [secret] })]).toEqual([log.end, false])
    }
  })

  test('a text that only began like a secret is shown when it has become another one', async () => {
    const screens = new Screens()
    const log = new LogWriter(tempFolder()).write('ghp_abcdefgh')
    const options = { cols: 80, rows: 6, masker, isLive: true }
    expect((await screens.show(PID, log.folder, options)).lines[0]).toBe('ghp_********')
    log.write(' is too short\r\n')
    expect((await screens.show(PID, log.folder, options)).lines[0]).toBe('ghp_abcdefgh is too short')
  })
})

test('masked and revealed screens of one process do not mix', async () => {
  const screens = new Screens()
  const { folder } = new LogWriter(tempFolder()).write(`ghp_${secret}`)
  const show = async (one: Masker | null) =>
    (await screens.show(PID, folder, { cols: 80, rows: 6, masker: one })).lines[0]
  expect(await show(masker)).toBe(`ghp_${'*'.repeat(36)}`)
  expect(await show(null)).toBe(`ghp_${secret}`)
  expect(await show(masker)).toBe(`ghp_${'*'.repeat(36)}`)
})

test('without masking a screen shows the secret', async () => {
  expect((await shown(`ghp_${secret}`, { masker: null })).lines[1]).toBe(secret.slice(16))
})
