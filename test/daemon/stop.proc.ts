import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { down } from '../../src/daemon/down.ts'
import { until } from '../keeper/client.ts'
import { ask } from '../server/ask.ts'
import { TempReeve } from '../temp-reeve.ts'
import { refusal, run, startInBackground } from './daemon-fixture.ts'

test('kill -9 in the middle loses nothing: the next daemon has the exit code and every line', async () => {
  const temp = new TempReeve()
  const first = await temp.start()
  const where = { home: temp.home, url: null }
  const line = 'for i in $(seq 1 200); do echo line $i; sleep 0.005; done; exit 3'
  const { pid } = (await ask(where, 'POST /v1/processes', run(line))).json.record
  await ask(where, `GET /v1/processes/${pid}/wait?until=${encodeURIComponent('{"text":"line 20"}')}`)
  await first.kill()
  const daemon = await temp.up()
  const waited = await ask(daemon, `GET /v1/processes/${pid}/wait?timeoutMs=30000`)
  expect(waited.json).toMatchObject({ type: 'ended', record: { outcome: { exitCode: 3 } } })
  const { text } = await ask(daemon, `GET /v1/processes/${pid}/output/stream`)
  expect(text).toBe(Array.from({ length: 200 }, (_, i) => `line ${i + 1}\n`).join(''))
  expect((await ask(daemon, 'GET /v1/status')).json.daemon.osPid).toBe(process.pid)
})

test('SIGTERM ends the commands whose lifetime is the daemon, and no others', async () => {
  const temp = new TempReeve()
  const first = await temp.start()
  const where = { home: temp.home, url: null }
  const begun = async (lifetime: string) =>
    (await ask(where, 'POST /v1/processes', run('sleep 300', lifetime))).json.record.pid as string
  const bound = await begun('daemon')
  const free = await begun('detached')
  const stopped = await down({ home: temp.home.folder })
  expect(stopped.osPid).toBe(first.osPid)
  expect(await first.ended()).toEqual({ code: 0, signal: null })
  const daemon = await temp.up()
  const status = async (pid: string) => (await ask(daemon, `GET /v1/processes/${pid}`)).json.status
  expect([await status(bound), await status(free)]).toEqual(['cancelled', 'running'])
})

test('down --keep leaves commands whose lifetime is the daemon to the keeper', async () => {
  const temp = new TempReeve()
  await temp.start()
  const where = { home: temp.home, url: null }
  const { pid } = (await ask(where, 'POST /v1/processes', run('sleep 300', 'daemon'))).json.record
  await down({ home: temp.home.folder, keep: true })
  const daemon = await temp.up()
  expect((await ask(daemon, `GET /v1/processes/${pid}`)).json.status).toBe('running')
})

test('a second SIGINT ends a daemon that waits for a command at once', async () => {
  const temp = new TempReeve()
  const first = await temp.start()
  const where = { home: temp.home, url: null }
  const stubborn = {
    kind: 'command',
    spec: { run: 'trap "" TERM; echo up; sleep 300 & wait; sleep 300', graceMs: 60_000 },
    lifetime: 'daemon',
  }
  const { pid } = (await ask(where, 'POST /v1/processes', { body: stubborn })).json.record
  await ask(where, `GET /v1/processes/${pid}/wait?until=${encodeURIComponent('{"text":"up"}')}`)
  first.signal('SIGINT')
  await until('it is stopping', () => temp.announced()?.stopping === true)
  first.signal('SIGINT')
  expect(await first.ended()).toEqual({ code: 130, signal: null })
})

test('while a daemon stops, a second stop waits with it, the next daemon waits too, and requests are answered', async () => {
  const temp = new TempReeve()
  const first = await temp.start()
  const where = { home: temp.home, url: null }
  // It goes when it is told to, and not before.
  const line = 'trap "" TERM; echo up; while [ ! -e go ]; do sleep 0.02; done; exit 6'
  const spec = { run: line, graceMs: 60_000 }
  const body = { kind: 'command', spec, cwd: temp.home.folder, lifetime: 'daemon' }
  const { pid } = (await ask(where, 'POST /v1/processes', { body })).json.record
  await ask(where, `GET /v1/processes/${pid}/wait?until=${encodeURIComponent('{"text":"up"}')}`)
  const waiting = ask(where, `GET /v1/processes/${pid}/wait`)
  const stops = [down({ home: temp.home.folder })]
  await until('it is stopping', () => temp.announced()?.stopping === true)
  stops.push(down({ home: temp.home.folder }))
  const next = startInBackground(temp)
  expect((await refusal(temp.up())).code).toBe('daemon_already_running')
  expect((await ask(where, `GET /v1/processes/${pid}`)).json.status).toBe('stopping')
  writeFileSync(join(temp.home.folder, 'go'), '')
  // A waiting client gets the outcome before the server closes.
  expect((await waiting).json).toMatchObject({ type: 'ended', record: { outcome: { exitCode: 6 } } })
  for (const stopped of await Promise.all(stops)) expect(stopped.osPid).toBe(first.osPid)
  const { osPid } = await next
  expect(osPid).not.toBe(first.osPid)
  expect(temp.announced()).toMatchObject({ osPid })
})

test('a stop with a failing step logs it, and completes', async () => {
  const temp = new TempReeve()
  const daemon = await temp.up()
  const { pid } = (await ask(daemon, 'POST /v1/processes', run('sleep 300', 'daemon'))).json.record
  // Where its note is written first, nothing can be.
  const draft = `${temp.home.daemon}.${process.pid}.new`
  mkdirSync(draft)
  await expect(daemon.close()).rejects.toThrow(/EISDIR/)
  expect(temp.logged).toContainEqual(
    expect.objectContaining({ level: 'error', words: 'trouble while announcing the stop' }),
  )
  expect(existsSync(temp.home.socket)).toBe(false)
  rmSync(draft, { recursive: true })
  const next = await temp.up()
  expect((await ask(next, `GET /v1/processes/${pid}`)).json.status).toBe('cancelled')
})
