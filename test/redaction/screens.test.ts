import { expect, test } from 'vitest'
import { Screens } from '../../src/command/screen/screen.ts'
import { Masker } from '../../src/redaction/masker.ts'
import { LogWriter } from '../command/output/log-writer.ts'
import { tempFolder } from '../temp-file.ts'
import { invented, SECRETS, shows } from './corpus.ts'

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

test('a window title is masked, and what is no secret stays', async () => {
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

test('without masking a screen shows what is there', async () => {
  expect((await shown(`ghp_${secret}`, { masker: null })).lines[1]).toBe(secret.slice(16))
})
