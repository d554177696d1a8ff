import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { detach } from '../../src/daemon/detach.ts'
import { down } from '../../src/daemon/down.ts'
import { isAlive, osProcess, signalOne } from '../command/os-processes.ts'
import { until } from '../keeper/client.ts'
import { ask } from '../server/ask.ts'
import { TempReeve } from '../temp-reeve.ts'
import { refusal, startInBackground } from './daemon-fixture.ts'

test('a daemon announces that it is ready, and removes the announcement when it stops', async () => {
  const temp = new TempReeve()
  const daemon = await temp.up()
  expect(temp.announced()).toMatchObject({ osPid: process.pid, url: daemon.url, startTime: /^\d+$/ })
  await daemon.close()
  expect(existsSync(temp.home.daemon)).toBe(false)
  expect(existsSync(temp.home.socket)).toBe(false)
})

test('a daemon that is killed before it is ready is followed by another', async () => {
  const temp = new TempReeve()
  const killedAtFirst = fileURLToPath(new URL('../fixtures/killed-at-first.ts', import.meta.url))
  const { osPid } = await detach({
    home: temp.home.folder,
    env: { ...process.env, ...temp.env },
    args: ['--listen', '127.0.0.1:0'],
    program: killedAtFirst,
  })
  expect(existsSync(join(temp.home.folder, 'was-killed'))).toBe(true)
  expect(temp.announced()).toMatchObject({ osPid })
})

test('a daemon whose keeper is stopped is not ready, until the keeper goes on', async () => {
  const temp = new TempReeve()
  const daemon = await temp.up()
  const { keeper } = await daemon.reeve.status()
  const stopped = osProcess(keeper?.osPid ?? 0)
  expect(isAlive(stopped)).toBe(true)
  signalOne(stopped, 'SIGSTOP')
  try {
    const { status, json } = await ask(daemon, 'GET /readyz')
    expect([status, json]).toEqual([503, { status: 'not_ready', store: 'ok', keeper: 'unavailable' }])
  } finally {
    signalOne(stopped, 'SIGCONT')
  }
  await until('it is ready again', async () => (await ask(daemon, 'GET /readyz')).status === 200)
})

test('a second daemon is refused with the PID of the first', async () => {
  const temp = new TempReeve()
  const first = await temp.start()
  const error = await refusal(temp.up())
  expect(error.code).toBe('daemon_already_running')
  expect(error.message).toContain(`PID ${first.osPid}`)
  expect(error.details).toMatchObject({ osPid: first.osPid, home: temp.home.folder })
  const second = await temp.start()
  expect((await second.ended()).code).toBe(1)
  expect(second.stderr).toContain(`PID ${first.osPid}`)
  expect((await ask({ home: temp.home, url: null }, 'GET /v1/status')).json.daemon.osPid).toBe(first.osPid)
})

test('the socket file and the announcement of a killed daemon do not prevent the next start', async () => {
  const temp = new TempReeve()
  const first = await temp.start()
  await first.kill()
  expect(existsSync(temp.home.socket)).toBe(true)
  expect(temp.announced()?.osPid).toBe(first.osPid)
  expect((await refusal(down({ home: temp.home.folder }))).code).toBe('daemon_not_running')
  const daemon = await temp.up()
  expect((await ask(daemon, 'GET /readyz')).status).toBe(200)
})

test('an announcement of an earlier boot is ignored, even if its PID is in use', async () => {
  const temp = new TempReeve()
  const daemon = await temp.up()
  const note = { ...temp.announced(), bootId: 'another' }
  await daemon.close()
  writeFileSync(temp.home.daemon, JSON.stringify(note))
  expect((await refusal(down({ home: temp.home.folder }))).code).toBe('daemon_not_running')
})

test('detach resolves when the daemon is ready, and finds it the second time', async () => {
  const temp = new TempReeve()
  const started = await startInBackground(temp)
  expect((await ask({ home: temp.home, url: null }, 'GET /v1/status')).json.daemon.osPid).toBe(started.osPid)
  expect(readFileSync(`/proc/${started.osPid}/stat`, 'utf8').split(') ')[1]?.split(' ')[3]).toBe(
    String(started.osPid),
  )
  expect(statSync(temp.home.log).mode & 0o777).toBe(0o600)
  expect(await startInBackground(temp)).toEqual(started)
  await down({ home: temp.home.folder })
  expect(readFileSync(temp.home.log, 'utf8')).toContain('"msg":"stopped"')
})

test('of several concurrent starts one daemon remains, and all callers get it', async () => {
  const temp = new TempReeve()
  const started = await Promise.all([1, 2, 3].map(() => startInBackground(temp)))
  expect(new Set(started.map(({ osPid }) => osPid)).size).toBe(1)
})

test('a late daemon does not start when the faster one is stopped', async () => {
  const temp = new TempReeve()
  const [late, osPid] = [join(temp.home.folder, 'late.mjs'), join(temp.home.folder, 'late-pid')]
  mkdirSync(temp.home.folder, { recursive: true })
  writeFileSync(
    late,
    `import { writeFileSync } from 'node:fs'\nwriteFileSync(${JSON.stringify(osPid)}, String(process.pid))\nsetInterval(() => {}, 1e6)\n`,
  )
  const env = { ...process.env, ...temp.env }
  const coming = detach({ home: temp.home.folder, env, args: [], program: late })
  await until('it is coming', () => existsSync(osPid) && readFileSync(osPid, 'utf8') !== '')
  const daemon = await startInBackground(temp)
  expect(await coming).toMatchObject({ osPid: daemon.osPid })
  const identity = Number(readFileSync(osPid, 'utf8'))
  await until('the late one is gone', () => !existsSync(`/proc/${identity}`))
})

test('a failed start in the background reports the reason', async () => {
  const temp = new TempReeve()
  writeFileSync(temp.home.config, '{ "mostCommands": "many" }')
  const error = await refusal(startInBackground(temp))
  expect(error).toMatchObject({ code: 'bad_configuration', details: { key: 'mostCommands', value: 'many' } })
  expect(error.message).toMatch(/mostCommands in .*reeve\.json is "many"/)
  expect(error.remedy).toMatch(/whole number/)
})

test('a chosen port that is taken is an error, and the default port is replaced by a free one', async () => {
  const temp = new TempReeve()
  const taken = createServer().listen(0, '127.0.0.1')
  onTestFinished(() => void taken.close())
  await new Promise((resolve) => taken.once('listening', resolve))
  const { port } = taken.address() as { port: number }
  const error = await refusal(temp.up({ flags: { listen: `127.0.0.1:${port}` } }))
  expect(error).toMatchObject({ code: 'address_in_use', details: { address: `127.0.0.1:${port}` } })
  expect(error.remedy).toMatch(/--listen/)
  expect(existsSync(temp.home.daemon)).toBe(false)
  const usual = createServer().listen(7337, '127.0.0.1')
  onTestFinished(() => void usual.close())
  // It may be taken by another program, which serves the test as well.
  await new Promise((resolve) => usual.once('listening', resolve).once('error', resolve))
  const daemon = await temp.up({ flags: { listen: undefined } })
  expect(daemon.url).not.toMatch(/:7337$/)
  expect((await ask(daemon, 'GET /readyz', { token: null })).status).toBe(200)
  expect(temp.logged).toContainEqual(
    expect.objectContaining({ level: 'warn', facts: { address: '127.0.0.1:7337' } }),
  )
})
