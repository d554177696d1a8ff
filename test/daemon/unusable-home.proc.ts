import { spawn } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { detach } from '../../src/daemon/detach.ts'
import { up } from '../../src/daemon/up.ts'
import { NEEDS_USER_NAMESPACE, testIf } from '../reporting/test-if.ts'
import { ask } from '../server/ask.ts'
import { quiet, TempReeve } from '../temp-reeve.ts'
import { canRun, REEVE_UP, refusal } from './daemon-fixture.ts'

test('a daemon that ends because its home is gone is not started, and the error says so', async () => {
  const { home } = new TempReeve()
  const folder = join(home.folder, 'home')
  const movesItsHome = fileURLToPath(new URL('../fixtures/moves-its-home.ts', import.meta.url))
  const error = await refusal(detach({ home: folder, program: movesItsHome, timeoutMs: 60_000 }))
  expect(error).toMatchObject({ code: 'daemon_not_started' })
  expect(error.message).toContain(`its home ${folder} was moved or removed`)
})

test('a data folder of commands is refused as a home, and not changed', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  const before = readdirSync(temp.keeperHome.folder).sort()
  const error = await refusal(up({ home: temp.keeperHome.folder, env: {}, log: quiet }))
  expect(error.code).toBe('home_unusable')
  expect(error.message).toContain(`${temp.keeperHome.folder} is the data folder of commands`)
  expect(readdirSync(temp.keeperHome.folder).sort()).toEqual(before)
  expect((await reeve.status()).keeper?.available).toBe(true)
})

testIf(existsSync('/proc/self'), 'needs /proc')('a home below /proc is refused', async () => {
  const error = await refusal(up({ home: '/proc/reeve/home/below', env: {}, log: quiet }))
  expect([error.code, error.details]).toEqual(['home_unusable', { home: '/proc/reeve/home/below' }])
})

test('a home that cannot be used is named with the reason', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'reeve-home-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'file')
  writeFileSync(file, '')
  for (const [mode, why] of [
    [0o777, 'everybody may write there'],
    [0o770, 'its group may write there'],
  ] as const) {
    const open = join(folder, String(mode))
    mkdirSync(open)
    chmodSync(open, mode)
    const error = await refusal(up({ home: open, env: {}, log: quiet }))
    expect(error).toMatchObject({ code: 'home_unusable', message: expect.stringContaining(why) })
  }
  for (const home of [file, join(file, 'below')]) {
    const error = await refusal(up({ home, env: {}, log: quiet }))
    expect(error).toMatchObject({ code: 'home_unusable', details: { home } })
    expect(error.message).toMatch(/there is a file with its name/)
    expect(error.remedy).toMatch(/REEVE_HOME/)
  }
})

testIf(canRun('unshare', '-rm', 'true'), NEEDS_USER_NAMESPACE)(
  'a read-only home is named as such',
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'reeve-home-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const script = `mount -t tmpfs -o ro none "$1" && exec "$2" "$3" up --listen off`
    const args = ['-rm', 'sh', '-c', script, 'sh', folder, process.execPath, REEVE_UP]
    const child = spawn('unshare', args, {
      env: { ...process.env, REEVE_HOME: folder },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let said = ''
    child.stderr.on('data', (data: Buffer) => {
      said += data.toString()
    })
    const code = await new Promise((resolve) => child.once('close', resolve))
    expect(said).toMatch(/home .* cannot be used: its file system is read-only/)
    expect(code).toBe(1)
  },
)

test('a home whose path is too long for a socket is named as such', async () => {
  const folder = join(mkdtempSync(join(tmpdir(), 'reeve-home-')), 'x'.repeat(100))
  onTestFinished(() => rmSync(join(folder, '..'), { recursive: true, force: true }))
  mkdirSync(folder)
  const error = await refusal(up({ home: folder, env: {}, flags: { listen: 'off' }, log: quiet }))
  expect(error.message).toContain(folder)
  expect(error.remedy).not.toBe('')
})

test('a damaged token file stops the start, and says what to do', async () => {
  const temp = new TempReeve()
  await (await temp.up()).close()
  writeFileSync(temp.home.tokens, '[{ "id": "t_1" }]')
  const error = await refusal(temp.up())
  expect(error.code).toBe('bad_configuration')
  expect(error.message).toContain(temp.home.tokens)
})

test('a home that everyone can write to is refused, and its permissions are not changed', async () => {
  const temp = new TempReeve()
  chmodSync(temp.home.folder, 0o777)
  const error = await refusal(temp.up())
  expect(error).toMatchObject({ code: 'home_unusable', details: { home: temp.home.folder } })
  expect(error.remedy).toContain('chmod 700')
  expect(statSync(temp.home.folder).mode & 0o777).toBe(0o777)
  chmodSync(temp.home.folder, 0o755)
  expect((await ask(await temp.up(), 'GET /readyz')).status).toBe(200)
})
