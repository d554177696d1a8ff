import { chmodSync, chownSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { ReeveError } from 'reeve'
import { expect, test } from 'vitest'
import { MAX_SECRET_BYTES, SecretFile } from '../../src/daemon/secret-file.ts'
import { homePaths } from '../../src/home/paths.ts'
import { testIf } from '../reporting/test-if.ts'
import { tempFolder } from '../temp-folder.ts'

const CANARY = 'canary-1f2e3d4c5b6a7988'

function thrownBy(act: () => unknown): ReeveError {
  try {
    act()
  } catch (error) {
    if (error instanceof ReeveError) return error
    throw error
  }
  throw new Error('Nothing was thrown')
}

test('a secret is read by name until it is removed, and a list has names alone', () => {
  const home = homePaths(tempFolder())
  const file = new SecretFile(home)
  expect(file.read()).toEqual({})
  expect(file.set('B_TOKEN', CANARY)).toBe('set')
  expect(file.set('a.key-2', 'two\nlines')).toBe('set')
  expect(file.set('B_TOKEN', `${CANARY}-2`)).toBe('replaced')
  expect(file.read()).toEqual({ B_TOKEN: `${CANARY}-2`, 'a.key-2': 'two\nlines' })
  expect(file.list()).toEqual([
    { name: 'B_TOKEN', setAt: expect.any(Number) },
    { name: 'a.key-2', setAt: expect.any(Number) },
  ])
  expect(file.remove('B_TOKEN')).toBe(true)
  expect(file.remove('B_TOKEN')).toBe(false)
  expect(file.remove('constructor')).toBe(false)
  expect(file.read()).toEqual({ 'a.key-2': 'two\nlines' })
})

test('the file is readable by its owner alone, and no draft of it is left', () => {
  const home = homePaths(tempFolder())
  new SecretFile(home).set('TOKEN', CANARY)
  expect(statSync(home.secrets).mode & 0o777).toBe(0o600)
  expect(readdirSync(home.folder).sort()).toEqual(['secrets.json', 'secrets.json.lock'])
})

test('a program reads the new value as soon as another one has set it', () => {
  const home = homePaths(tempFolder())
  const daemon = new SecretFile(home)
  expect(daemon.read()).toEqual({})
  new SecretFile(home).set('TOKEN', CANARY)
  expect(daemon.read()).toEqual({ TOKEN: CANARY })
  new SecretFile(home).remove('TOKEN')
  expect(daemon.read()).toEqual({})
})

test('a file that others can read or write is refused, also after its mode changes, and is read once that is fixed', () => {
  const home = homePaths(tempFolder())
  const file = new SecretFile(home)
  file.set('TOKEN', CANARY)
  for (const mode of [0o640, 0o604, 0o620, 0o602]) {
    chmodSync(home.secrets, mode)
    const { code, message, remedy } = thrownBy(() => file.read())
    expect(code).toBe('secrets_unusable')
    expect(message).toBe(`The secrets in ${home.secrets} cannot be used: other users can read or write it.`)
    expect(remedy).toContain(`chmod 600 ${home.secrets}`)
    expect(thrownBy(() => file.set('OTHER', 'value')).code).toBe('secrets_unusable')
  }
  chmodSync(home.secrets, 0o600)
  expect(file.read()).toEqual({ TOKEN: CANARY })
})

testIf(process.getuid?.() === 0, 'needs root, to give a file away')(
  'a file of another user is refused',
  () => {
    const home = homePaths(tempFolder())
    const file = new SecretFile(home)
    file.set('TOKEN', CANARY)
    chownSync(home.secrets, 12_345, 12_345)
    expect(thrownBy(() => file.read())).toMatchObject({
      code: 'secrets_unusable',
      message: expect.stringContaining('it belongs to another user'),
    })
  },
)

test('a file without valid secrets is refused, and the error quotes none of its content', () => {
  const home = homePaths(tempFolder())
  const file = new SecretFile(home)
  const contents = [CANARY, `{"version":1,"secrets":{"A":"${CANARY}"}}`, `{"${CANARY}":1}`, '[]']
  for (const content of contents) {
    writeFileSync(home.secrets, content, { mode: 0o600 })
    const error = thrownBy(() => file.read())
    expect(error.code).toBe('secrets_unusable')
    expect(JSON.stringify({ ...error, message: error.message, stack: error.stack })).not.toContain(CANARY)
    expect(error.cause).toBeUndefined()
  }
})

test('names and values that no variable can have are refused, and nothing is set', () => {
  const home = homePaths(tempFolder())
  const file = new SecretFile(home)
  const wrong: [string, string][] = [
    ['', 'value'],
    ['1A', 'value'],
    ['A B', 'value'],
    ['env:A', 'value'],
    ['A'.repeat(129), 'value'],
    ['A', ''],
    ['A', 'a\0b'],
    ['A', 'x'.repeat(MAX_SECRET_BYTES + 1)],
  ]
  for (const [name, value] of wrong) {
    const error = thrownBy(() => file.set(name, value))
    expect(error.code, name).toBe('invalid_input')
    if (value.length > 5) expect(error.message).not.toContain('xxx')
  }
  expect(readdirSync(home.folder)).toEqual([])
})
