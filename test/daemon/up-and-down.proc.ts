import { execFileSync, spawn } from 'node:child_process'
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { get } from 'node:https'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { connect } from '../../src/client/connect.ts'
import { ReeveError } from '../../src/core/errors.ts'
import { detach } from '../../src/daemon/detach.ts'
import { down } from '../../src/daemon/down.ts'
import { MAX_LOG_BYTES } from '../../src/daemon/log-rotation.ts'
import { up } from '../../src/daemon/up.ts'
import { isAlive, osProcess, signalOne } from '../command/os-processes.ts'
import { until } from '../keeper/client.ts'
import { NEEDS_USER_NAMESPACE, testIf } from '../reporting/test-if.ts'
import { ask } from '../server/ask.ts'
import { quiet, TempReeve } from '../temp-reeve.ts'

const program = fileURLToPath(new URL('../fixtures/reeve-up.ts', import.meta.url))
const background = (temp: TempReeve, args: readonly string[] = ['--listen', '127.0.0.1:0']) =>
  detach({ home: temp.home.folder, env: { ...process.env, ...temp.env }, args, program })

const run = (line: string, lifetime = 'detached') => ({
  body: { kind: 'command', spec: { run: line }, lifetime },
})

async function refusal(asked: Promise<unknown>): Promise<ReeveError> {
  try {
    await asked
  } catch (error) {
    if (error instanceof ReeveError) return error
    throw error
  }
  throw new Error('It was accepted.')
}

test('a daemon announces that it is ready, and removes the announcement when it stops', async () => {
  const temp = new TempReeve()
  const daemon = await temp.up()
  expect(temp.announced()).toMatchObject({ osPid: process.pid, url: daemon.url, startTime: /^\d+$/ })
  await daemon.close()
  expect(existsSync(temp.home.daemon)).toBe(false)
  expect(existsSync(temp.home.socket)).toBe(false)
})

test('a daemon that ends because its home is gone is not started, and the error says so', async () => {
  const { home } = new TempReeve()
  const folder = join(home.folder, 'home')
  const movesItsHome = fileURLToPath(new URL('../fixtures/moves-its-home.ts', import.meta.url))
  const error = await refusal(detach({ home: folder, program: movesItsHome, timeoutMs: 60_000 }))
  expect(error).toMatchObject({ code: 'daemon_not_started' })
  expect(error.message).toContain(`its home ${folder} was moved or removed`)
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
  const next = background(temp)
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
  const started = await background(temp)
  expect((await ask({ home: temp.home, url: null }, 'GET /v1/status')).json.daemon.osPid).toBe(started.osPid)
  expect(readFileSync(`/proc/${started.osPid}/stat`, 'utf8').split(') ')[1]?.split(' ')[3]).toBe(
    String(started.osPid),
  )
  expect(statSync(temp.home.log).mode & 0o777).toBe(0o600)
  expect(await background(temp)).toEqual(started)
  await down({ home: temp.home.folder })
  expect(readFileSync(temp.home.log, 'utf8')).toContain('"msg":"stopped"')
})

test('of several concurrent starts one daemon remains, and all callers get it', async () => {
  const temp = new TempReeve()
  const started = await Promise.all([1, 2, 3].map(() => background(temp)))
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
  const daemon = await background(temp)
  expect(await coming).toMatchObject({ osPid: daemon.osPid })
  const identity = Number(readFileSync(osPid, 'utf8'))
  await until('the late one is gone', () => !existsSync(`/proc/${identity}`))
})

test('a failed start in the background reports the reason', async () => {
  const temp = new TempReeve()
  writeFileSync(temp.home.config, '{ "mostCommands": "many" }')
  const error = await refusal(background(temp))
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

testIf(can('unshare', '-rm', 'true'), NEEDS_USER_NAMESPACE)('a read-only home is named as such', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'reeve-home-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const script = `mount -t tmpfs -o ro none "$1" && exec "$2" "$3" up --listen off`
  const args = ['-rm', 'sh', '-c', script, 'sh', folder, process.execPath, program]
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
})

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

test('the daemon serves MCP clients that have a token', async () => {
  const daemon = await new TempReeve().up()
  const body = {
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
  }
  const headers = { accept: 'application/json, text/event-stream' }
  expect((await ask(daemon, 'POST /mcp', { token: null, headers, body })).status).toBe(401)
  const said = await ask(daemon, 'POST /mcp', { token: daemon.token, headers, body })
  expect(said.status).toBe(200)
  expect(said.text).toContain('"serverInfo"')
  const large = { ...body, more: 'x'.repeat(5 * 1024 * 1024) }
  const chunked = { ...headers, 'transfer-encoding': 'chunked' }
  expect((await ask(daemon, 'POST /mcp', { headers: chunked, body: large })).status).toBe(413)
})

testIf(can('openssl', 'version'), 'needs openssl')(
  'everything is served over TLS where a certificate is given, beyond this machine too',
  async () => {
    const temp = new TempReeve()
    const [tlsCert, tlsKey] = ['cert.pem', 'key.pem'].map((name) => join(temp.home.folder, name)) as [
      string,
      string,
    ]
    const made = [
      'req',
      '-x509',
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:prime256v1',
      '-nodes',
      '-days',
      '2',
    ]
    const named = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1']
    execFileSync('openssl', [...made, ...named, '-keyout', tlsKey, '-out', tlsCert], { stdio: 'ignore' })
    const daemon = await temp.up({ flags: { listen: '0.0.0.0:0', tlsCert, tlsKey } })
    expect(daemon.url).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/)
    const status = await new Promise((resolve, reject) => {
      const headers = { authorization: `Bearer ${daemon.token}` }
      get(`${daemon.url}/v1/status`, { ca: readFileSync(tlsCert), headers, agent: false }, ({ statusCode }) =>
        resolve(statusCode),
      ).on('error', reject)
    })
    expect(status).toBe(200)
  },
)

function can(program: string, ...args: string[]): boolean {
  try {
    execFileSync(program, args, { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

test('the log of a live daemon is rotated when it goes past its limit, and no line is lost', async () => {
  const temp = new TempReeve()
  const { home } = temp
  const env = { ...process.env, ...temp.env, REEVE_LOG_LEVEL: 'debug' }
  const { osPid } = await detach({ home: home.folder, env, args: ['--listen', 'off'], program })
  // Its last line at the start comes from standard output, which is the same file.
  await until('it has logged its start', () => readFileSync(home.log, 'utf8').includes('{"ready":null}\n'))
  const before = readFileSync(home.log, 'utf8')
  const filler = `${JSON.stringify({ filler: 'x'.repeat(1_000) })}\n`.repeat(Math.ceil(MAX_LOG_BYTES / 1_000))
  appendFileSync(home.log, filler)
  const reeve = await connect({ home: home.folder })
  onTestFinished(() => reeve.close())
  const asked = Array.from({ length: 20 }, (_, at) => `p_none${at}`)
  for (const pid of asked) await reeve.show({ pid }).catch(() => undefined)
  // The last answer is logged behind it.
  await until('all are logged', () => asked.every((pid) => readFileSync(home.log, 'utf8').includes(pid)))
  expect(readFileSync(`${home.log}.1`, 'utf8').startsWith(`${before}${filler}`)).toBe(true)
  const lines = readFileSync(home.log, 'utf8').trimEnd().split('\n')
  for (const line of lines) expect(() => JSON.parse(line)).not.toThrow()
  expect(temp.announced()).toMatchObject({ osPid })
  expect(statSync(`${home.log}.1`).mode & 0o077).toBe(0)
})
