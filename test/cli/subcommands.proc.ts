import { once } from 'node:events'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { ProcessRecord } from 'reeve'
import { expect, onTestFinished, test } from 'vitest'
import { until } from '../keeper/client.ts'
import { CommandLine } from './command-line.ts'

test('a command in the background prints its pid, and outlives kill -9 of the daemon with every line and its exit code', async () => {
  const reeve = new CommandLine()
  const go = join(reeve.temp.home.folder, 'go')
  const line = `echo line 1; echo line 2; while [ ! -e ${go} ]; do sleep 0.02; done; echo line 3; exit 3`
  const { code, stdout, stderr } = await reeve.run(['run', '-d', '--name', 'job', '-c', line])
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout).toMatch(/^p_[0-9a-z]{12}\n$/)
  const status = await reeve.json<{ daemon: { osPid: number }; keeper: { osPid: number } }>('status')
  await reeve.temp.killDaemon()
  // Starts the next one. The keeper waits for it, however long that takes: it has a command to keep.
  expect((await reeve.run(['ps', '-q'])).stdout).toBe(stdout)
  const after = await reeve.json<typeof status>('status')
  expect(after.keeper.osPid).toBe(status.keeper.osPid)
  expect(after.daemon.osPid).not.toBe(status.daemon.osPid)
  writeFileSync(go, '')
  expect((await reeve.run(['wait', 'job'])).code).toBe(3)
  expect((await reeve.run(['logs', 'job'])).stdout).toBe('line 1\nline 2\nline 3\n')
})

test('without a daemon, --no-start and status report that and start none', async () => {
  const reeve = new CommandLine()
  const refused = await reeve.run(['ps', '--no-start'])
  expect(refused).toMatchObject({ code: 1, stdout: '' })
  expect(refused.stderr.split('\n')).toEqual([
    `reeve: No daemon answers at ${reeve.temp.home.socket}.`,
    'Start one with reeve up, or say where it is with REEVE_HOME.',
    '',
  ])
  expect((await reeve.run(['status'])).code).toBe(3)
  expect(await reeve.json('status')).toMatchObject({ daemon: null, keeper: null })
  expect(reeve.temp.announced()).toBeNull()
})

test('processes are listed as a table, as JSON, as JSON lines and as pids', async () => {
  const reeve = new CommandLine()
  await reeve.run(['run', '--name', 'done', '--', 'sh', '-c', 'exit 7'])
  const pid = (await reeve.run(['run', '-d', '--name', 'web', '--', 'sleep', '60'])).stdout.trim()
  const table = (await reeve.run(['ps'])).stdout.split('\n')
  expect(table[0]).toMatch(/^PID +NAME +STATUS +SINCE +COMMAND$/)
  expect(table[1]).toMatch(new RegExp(`^${pid} +web +running +\\S+ +sleep 60$`))
  expect(table.slice(2)).toEqual([''])
  expect((await reeve.run(['ps', '-a'])).stdout).toMatch(/done +failed 7 +(just now|\S+ ago) +sh -c 'exit 7'/)
  expect(await reeve.json<ProcessRecord[]>('ps')).toEqual([
    expect.objectContaining({ pid, name: 'web', shared: false }),
  ])
  const lines = (await reeve.run(['ps', '-a', '--jsonl'])).stdout.trim().split('\n')
  expect(lines.map((line) => (JSON.parse(line) as ProcessRecord).name)).toEqual(['done', 'web'])
  expect((await reeve.run(['ps', '-q'])).stdout).toBe(`${pid}\n`)
  expect((await reeve.run(['ps', '-aq', '--status', 'failed'])).stdout).not.toContain(pid)
})

test('a name can be used instead of a pid everywhere', async () => {
  const reeve = new CommandLine()
  const pid = (
    await reeve.run(['run', '-d', '--name', 'web', '-c', 'echo ready; exec sleep 60'])
  ).stdout.trim()
  expect((await reeve.run(['wait', 'web', '--until', 'rea'])).stdout).toBe('ready\n')
  expect((await reeve.run(['show', 'web'])).stdout).toContain(pid)
  expect((await reeve.run(['tree', 'web'])).stdout).toMatch(/^web {2}running {2}/)
  expect((await reeve.run(['search', 'web', 'ready'])).stdout).toBe('1:ready\n')
  expect((await reeve.run(['search', 'web', 'nothing'])).code).toBe(1)
  expect((await reeve.run(['events', 'web'])).stdout).toMatch(/registered.*\n.*started.*\n.*program_started/)
  expect((await reeve.run(['signal', 'web', 'pause'])).code).toBe(0)
  expect((await reeve.run(['ps'])).stdout).toContain('paused')
  const again = (await reeve.run(['restart', 'web'])).stdout.trim()
  expect(again).not.toBe(pid)
  expect(await reeve.json('show', 'web')).toMatchObject({ pid: again, restartOf: pid })
  expect((await reeve.run(['interrupt', 'web'])).stdout).toContain('1 asked to stop')
  expect((await reeve.run(['wait', again])).code).toBe(130)
})

test('each kind of error has its exit code and two lines', async () => {
  const reeve = new CommandLine()
  await reeve.run(['run', '-d', '--name', 'web', '--', 'sleep', '60'])
  await reeve.run(['kill', 'web'])
  const codes = async (...words: string[]) => {
    const { code, stderr } = await reeve.run(words)
    return [code, stderr.trim().split('\n').length]
  }
  expect(await codes('show', 'nobody')).toEqual([3, 2])
  expect(await codes('session', 'end', 'nobody')).toEqual([3, 2])
  expect(await codes('send', 'web', 'hello')).toEqual([5, 2])
  expect(await codes('show', 'web', '--as', 'session:other')).toEqual([3, 2])
  expect(await codes('status', '--as', 'nobody')).toEqual([0, 1])
  expect(await codes('ps', '--as', 'nobody')).toEqual([2, 2])
  expect(await codes('session', '--as', 'session:s1')).toEqual([4, 2])
  expect(await codes('show')).toEqual([2, 2])
  expect(await codes('logs', 'web', '--tial', '3')).toEqual([2, 2])
  expect(await codes('run', '--timeout', 'soon', 'true')).toEqual([125, 2])
  expect((await reeve.run(['pss'])).stderr).toContain('Did you mean ps?')
  expect((await reeve.run(['logs', 'web', '--tial', '3'])).stderr).toContain('Did you mean --tail?')
  const json = await reeve.run(['show', 'nobody', '--json'])
  expect(JSON.parse(json.stderr)).toMatchObject({ error: { code: 'unknown_pid' } })
})

test('output is read from its end, from an offset, by stream and as lines, and followed to its end', async () => {
  const reeve = new CommandLine()
  await reeve.run(['run', '--name', 'job', '-c', 'seq 5; echo oops >&2'])
  expect((await reeve.run(['logs', '-n', '2', 'job', '--stream', 'stdout'])).stdout).toBe('5\n')
  expect((await reeve.run(['logs', '-n2', 'job'])).stdout).toBe('5\noops\n')
  expect((await reeve.run(['logs', '--from', '8', 'job'])).stdout).toBe('5\noops\n')
  expect((await reeve.run(['logs', '--stream', 'stderr', 'job'])).stdout).toBe('oops\n')
  expect((await reeve.run(['logs', '-f', 'job'])).stdout).toBe('1\n2\n3\n4\n5\noops\n')
  const lines = await reeve.json<{ text: string; stream: string }[]>('logs', 'job')
  expect(lines.map(({ text, stream }) => [text, stream]).slice(-2)).toEqual([
    ['5', 'stdout'],
    ['oops', 'stderr'],
  ])
  const followed = (await reeve.run(['logs', '-f', '--jsonl', 'job'])).stdout.trim().split('\n')
  expect(followed.map((line) => JSON.parse(line))).toContainEqual({ offset: 8, text: '5' })
})

test('more of the last lines than one page has are printed, as text and as JSON lines', async () => {
  const reeve = new CommandLine()
  await reeve.run(['run', '-d', '--name', 'long', '-c', 'seq 1 12000'])
  await reeve.run(['wait', 'long'])
  const text = (await reeve.run(['logs', '-n', '11000', 'long'])).stdout.trim().split('\n')
  expect([text.length, text[0], text.at(-1)]).toEqual([11_000, '1001', '12000'])
  const lines = (await reeve.run(['logs', '-n', '11000', '--jsonl', 'long'])).stdout.trim().split('\n')
  expect([lines.length, JSON.parse(lines[0] ?? '')]).toMatchObject([11_000, { text: '1001' }])
  const all = (await reeve.run(['logs', '-n', '20000', 'long'])).stdout.trim().split('\n')
  expect([all.length, all[0]]).toEqual([12_000, '1'])
})

test('send delivers text, keys, bytes and the end of the input', async () => {
  const reeve = new CommandLine()
  await reeve.run(['run', '-di', '--name', 'sort', '--', 'sort'])
  await reeve.run(['send', 'sort', 'pears', 'and', 'more'])
  await reeve.run(['send', 'sort', '-'], { input: 'bananas\n' })
  await reeve.run(['send', '-n', 'sort', 'apples'])
  expect((await reeve.run(['send', '--eof', 'sort'])).code).toBe(0)
  expect((await reeve.run(['wait', 'sort'])).code).toBe(0)
  expect((await reeve.run(['logs', 'sort'])).stdout).toBe('apples\nbananas\npears and more\n')
  await reeve.run(['run', '-dt', '--name', 'cat', '--', 'cat'])
  await reeve.run(['send', 'cat', 'hello'])
  await reeve.run(['wait', 'cat', '--pattern', 'hello'])
  expect((await reeve.run(['screen', 'cat'])).stdout).toMatch(/^hello\nhello\n/)
  await reeve.run(['send', '-k', 'ctrl-c', 'cat'])
  expect((await reeve.run(['wait', 'cat'])).code).toBe(130)
})

test('concurrent calls without a daemon start exactly one', async () => {
  const reeve = new CommandLine()
  const ran = await Promise.all([1, 2, 3, 4].map((n) => reeve.run(['run', '--', 'echo', String(n)])))
  expect(ran.map(({ code, stdout }) => [code, stdout])).toEqual([1, 2, 3, 4].map((n) => [0, `${n}\n`]))
  expect((await reeve.run(['ps', '-aq'])).stdout.trim().split('\n')).toHaveLength(4)
})

test('a remote daemon is reached by its address and a token, and is never started', async () => {
  const reeve = new CommandLine()
  const daemon = await reeve.temp.up()
  const elsewhere = new CommandLine()
  const env = { REEVE_URL: daemon.url ?? '', REEVE_TOKEN: daemon.token }
  expect(await elsewhere.run(['run', '--', 'echo', 'hi'], { env })).toMatchObject({ code: 0, stdout: 'hi\n' })
  expect((await elsewhere.run(['ps'], { env: { ...env, REEVE_TOKEN: 'wrong' } })).code).toBe(4)
  expect((await elsewhere.run(['ps', '--url', 'http://127.0.0.1:1', '--token', 'x'])).code).toBe(1)
  expect((await elsewhere.run(['status'], { env })).stdout).toContain(daemon.url)
  expect(elsewhere.temp.announced()).toBeNull()
})

test.each(['ps', 'mcp'])(
  'reeve %s with a wrong token names the variable and the option it may come from',
  async (word) => {
    const reeve = new CommandLine()
    await reeve.temp.up()
    const { code, stderr } = await reeve.run([word], { env: { REEVE_TOKEN: 'wrong' } })
    expect(code).toBe(4)
    expect(stderr).toContain('REEVE_TOKEN')
    expect(stderr).toContain('--token')
    expect(stderr).not.toContain('Bearer')
  },
)

test('two sessions are separate, and the processes of one end with it', async () => {
  const reeve = new CommandLine()
  for (const id of ['s1', 's2']) {
    await reeve.run(['session', 'open', id])
    await reeve.run(['run', '-d', '--session', id, '--name', `of-${id}`, '--', 'sleep', '60'])
  }
  const names = async (...words: string[]) =>
    (await reeve.json<ProcessRecord[]>('ps', ...words)).map(({ name }) => name)
  expect(await names('--session', 's1')).toEqual(['of-s1'])
  expect(await names('--as', 'session:s2')).toEqual(['of-s2'])
  expect((await reeve.run(['kill', 'of-s1', '--as', 'session:s2'])).code).toBe(3)
  await reeve.run(['session', 'end', 's1'])
  expect((await reeve.run(['wait', 'of-s1'])).code).toBe(143)
  expect(await names()).toEqual(['of-s2'])
  expect((await reeve.run(['kill', '--all', '--session', 's2'])).stdout).toBe('1 matched: 1 ended\n')
})

test('down ends the commands whose lifetime is the daemon, and with --keep none', async () => {
  const reeve = new CommandLine()
  await reeve.run(['run', '-d', '--name', 'kept', '--', 'sleep', '60'])
  expect((await reeve.run(['down', '--keep'])).stdout).toMatch(
    /^Stopped the daemon with PID \d+\. Still running: kept\.$/m,
  )
  expect((await reeve.run(['ps', '-q'])).stdout).not.toBe('')
  await reeve.run(['down'])
  expect((await reeve.run(['down'])).stdout).toContain('No daemon runs')
  expect(await reeve.json('show', 'kept')).toMatchObject({
    status: 'cancelled',
    outcome: { reason: 'lifetime' },
  })
})

test('logs -f does not restart a daemon that its user stopped', async () => {
  const reeve = new CommandLine()
  await reeve.run(['run', '-d', '--lifetime', 'detached', '--name', 'job', '-c', 'echo ready; exec sleep 60'])
  const following = reeve.start(['logs', '-f', 'job'])
  await following.printed('ready')
  await reeve.run(['down'])
  expect(await following.ended).toMatchObject({ code: 1 })
  expect(reeve.temp.announced()).toBeNull()
})

test('up in the foreground prints its address and what to try, and stops at SIGTERM', async () => {
  const reeve = new CommandLine()
  const up = reeve.start(['up', '--listen', '127.0.0.1:0'], { env: { REEVE_LISTEN: '' } })
  await up.printed('Ctrl-C stops it.')
  const second = await reeve.run(['up'])
  expect(second).toMatchObject({ code: 5 })
  expect(second.stderr).toContain('already runs')
  await reeve.run(['run', '-d', '--name', 'bound', 'sleep', '300'])
  await reeve.run(['run', '-d', '--name', 'free', '--lifetime', 'detached', 'sleep', '300'])
  up.child.kill('SIGTERM')
  const { code, stdout } = await up.ended
  expect(code).toBe(0)
  expect(stdout).toMatch(/^Stopped\. Ended with it: bound\. Still running: free\.$/m)
  expect(stdout).toContain('--lifetime detached')
  expect(stdout).toMatch(/address {2}http:\/\/127\.0\.0\.1:\d+\n/)
  // Copied into another shell, each line leads to this home.
  const { folder } = reeve.temp.home
  expect(stdout).toMatch(new RegExp(`claude mcp add reeve -- \\S+ --home ${folder} mcp\n`))
  expect(stdout.match(new RegExp(`^ {2}\\S+ --home ${folder} (run|logs|ps)`, 'gm'))).toHaveLength(3)
  await reeve.run(['kill', 'free'])
})

test('config shows each value with its source, and an invalid value is refused with its name', async () => {
  const reeve = new CommandLine()
  const settings = await reeve.json<{ key: string; value: unknown; from: string }[]>(
    'config',
    '--grace-ms',
    '5',
  )
  expect(settings).toContainEqual({ key: 'graceMs', value: 5, from: 'flag' })
  expect(settings).toContainEqual({ key: 'listen', value: 'off', from: 'environment' })
  const wrong = await reeve.run(['ps'], { env: { REEVE_GRACE_MS: 'soon' } })
  expect(wrong.code).toBe(2)
  expect(wrong.stderr).toContain('REEVE_GRACE_MS is "soon"')
})

test('tokens are made, listed without their text, revoked, and never made inside a Reeve process', async () => {
  const reeve = new CommandLine()
  const made = await reeve.json<{ id: string; token: string }>(
    'token',
    'create',
    '--role',
    'agent',
    '--session',
    's1',
  )
  expect((await reeve.run(['token', 'list'])).stdout).toContain(made.id)
  expect((await reeve.run(['token', 'list', '--json'])).stdout).not.toContain(made.token)
  expect((await reeve.run(['token', 'revoke', made.id])).code).toBe(0)
  expect((await reeve.run(['token', 'revoke', made.id])).code).toBe(3)
  expect((await reeve.run(['token', 'create', '--role', 'agent'])).code).toBe(2)
  expect((await reeve.run(['run', '--', process.execPath, 'bin/reeve.mjs', 'token', 'create'])).code).toBe(4)
})

test('any verb can be called by its name', async () => {
  const reeve = new CommandLine()
  await reeve.run(['run', '--name', 'job', '--', 'true'])
  expect(JSON.parse((await reeve.run(['call', 'show', 'pid=job'])).stdout)).toMatchObject({ name: 'job' })
  const listed = JSON.parse(
    (await reeve.run(['call', 'list', '-'], { input: '{"filter":{"name":"job","status":"any"}}' })).stdout,
  )
  expect(listed).toMatchObject({ processes: [{ record: { name: 'job' } }], next: null })
  expect((await reeve.run(['call', 'shwo'])).stderr).toContain('Did you mean show?')
  expect(JSON.parse((await reeve.run(['call', '--schema', 'kill'])).stdout)).toMatchObject({
    input: { properties: { pid: { type: 'string' } } },
  })
})

test('the doctor runs with and without a daemon', async () => {
  const reeve = new CommandLine()
  const names = async () =>
    (await reeve.json<{ name: string; state: string }[]>('doctor')).map(({ name }) => name)
  expect(await names()).toEqual([
    'Node',
    'system',
    'terminals',
    'cgroups',
    'clock',
    'disk',
    'home',
    'rights',
    'store',
    'secrets',
    'daemon',
    'keeper',
  ])
  await reeve.run(['run', '--', 'true'])
  expect(await names()).toEqual(expect.arrayContaining(['keeper', 'records']))
  expect((await reeve.run(['doctor'])).code).toBe(0)
})

test('a password of the store is on no command line, on no screen, and in no environment of a command', async () => {
  const reeve = new CommandLine()
  const store = join(reeve.temp.home.folder, 'own.db')
  const { osPid } = await reeve.json<{ osPid: number }>('up', '-d', '--store', store)
  expect(existsSync(store)).toBe(true)
  expect(readFileSync(`/proc/${osPid}/cmdline`, 'utf8')).not.toContain('own.db')
  const { stdout } = await reeve.run(['run', 'env'])
  expect(stdout).toContain('PATH=')
  expect(stdout).not.toContain('own.db')
  for (const [url, value] of [
    ['postgres://me:hush@db/reeve', 'postgres://me:***@db/reeve'],
    ['postgres://db/reeve?user=me&password=hush&x=1', 'postgres://db/reeve?user=me&password=***&x=1'],
  ] as const)
    expect(await reeve.json('config', '--store', url)).toContainEqual({ key: 'store', value, from: 'flag' })
})

test('--json prints one JSON text, also for several processes', async () => {
  const reeve = new CommandLine()
  for (const name of ['a', 'b']) await reeve.run(['run', '-d', '--name', name, 'sleep', '300'])
  expect(await reeve.json('restart', 'a', 'b')).toMatchObject([{ name: 'a' }, { name: 'b' }])
  expect(await reeve.json('session', 'open', 's1', 's2')).toHaveLength(2)
  const { id } = await reeve.json<{ id: string }>('token', 'create')
  expect(await reeve.json('token', 'revoke', id)).toEqual([{ id }])
})

test('while a daemon stops, every subcommand reports that', async () => {
  const reeve = new CommandLine()
  const cwd = reeve.temp.home.folder
  const line = 'trap "" TERM; echo up; while [ ! -e go ]; do sleep 0.02; done'
  await reeve.run(['run', '-d', '--name', 'slow', '--grace', '10m', '-c', line], { cwd })
  await reeve.run(['wait', 'slow', '--until', 'up'])
  const down = reeve.run(['down'])
  await until('it is stopping', () => reeve.temp.announced()?.stopping === true)
  expect(await reeve.run(['status'])).toMatchObject({
    code: 3,
    stdout: expect.stringContaining('is stopping'),
  })
  expect((await reeve.run(['doctor'])).stdout).toContain('is stopping')
  expect(await reeve.run(['up'])).toMatchObject({
    code: 5,
    stderr: expect.stringContaining('is still stopping'),
  })
  expect((await reeve.run(['ps'])).stdout).toContain('slow')
  writeFileSync(join(cwd, 'go'), '')
  expect((await down).code).toBe(0)
})

test('the token of the home is sent only to the daemon of the home', async () => {
  const reeve = new CommandLine()
  const daemon = await reeve.temp.up()
  const heard: (string | undefined)[] = []
  const stranger = createServer((request, response) => {
    heard.push(request.headers.authorization)
    response.writeHead(401).end('{}')
  }).listen(0, '127.0.0.1')
  onTestFinished(() => void stranger.close())
  await once(stranger, 'listening')
  const { port } = stranger.address() as AddressInfo
  await reeve.run(['ps', '--url', `http://127.0.0.1:${port}`])
  expect(heard).toEqual([undefined])
  const local = (daemon.url ?? '').replace('127.0.0.1', 'localhost')
  expect((await reeve.run(['ps', '--url', local])).code).toBe(0)
})

test('settings for a running daemon are refused, and up without settings succeeds', async () => {
  const reeve = new CommandLine()
  const first = await reeve.json<{ osPid: number }>('up', '-d')
  const again = await reeve.run(['up', '-d'])
  expect(again).toMatchObject({
    code: 0,
    stdout: expect.stringContaining(`runs already (PID ${first.osPid})`),
  })
  const refused = await reeve.run(['up', '-d', '--grace-ms', '5'])
  expect(refused).toMatchObject({ code: 5, stderr: expect.stringContaining('keeps the settings') })
})

test('a daemon that a command starts outlives the command', async () => {
  const outer = new CommandLine()
  const inner = new CommandLine()
  const line = `REEVE_HOME=${inner.temp.home.folder} ${inner.called} up -d --json; sleep 300`
  const pid = (await outer.run(['run', '-d', '-c', line])).stdout.trim()
  await outer.run(['wait', pid, '--until', 'startedAt'])
  const before = await inner.json<{ daemon: { osPid: number } }>('status')
  await outer.run(['kill', pid])
  const after = await inner.json<typeof before>('status')
  expect(after.daemon).toEqual(before.daemon)
})

test('a wait that was not met says why', async () => {
  const reeve = new CommandLine()
  await reeve.run(['run', '-d', '--name', 'short', '-c', 'echo bye'])
  const never = await reeve.run(['wait', 'short', '--until', 'listening'])
  expect(never).toMatchObject({ code: 1, stderr: expect.stringContaining('has not printed listening') })
  await reeve.run(['run', '-d', '--name', 'long', 'sleep', '300'])
  const late = await reeve.run(['wait', 'long', '-t', '10ms'])
  expect(late).toMatchObject({ code: 124, stderr: expect.stringContaining('long has not ended in time') })
})

test('--stream reads one of two separate streams, and is refused for mixed ones', async () => {
  const reeve = new CommandLine()
  const line = 'echo out; echo err >&2'
  for (const [name, ...more] of [['one', '--split'], ['both']] as const) {
    await reeve.run(['run', '-d', '--name', name, ...more, '-c', line])
    await reeve.run(['wait', name])
  }
  expect((await reeve.run(['logs', '--stream', 'stderr', 'one'])).stdout).toBe('err\n')
  const refused = await reeve.run(['logs', '--stream', 'stderr', 'both'])
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('--split') })
})

test('down names the commands that end and those that go on', async () => {
  const reeve = new CommandLine()
  await reeve.run(['run', '-d', '--name', 'bound', 'sleep', '300'])
  await reeve.run(['run', '-d', '--name', 'free', '--lifetime', 'detached', 'sleep', '300'])
  expect((await reeve.run(['down'])).stdout).toMatch(/Ended with it: bound\. Still running: free\.$/m)
  await reeve.run(['kill', 'free'])
})

test('a secret of the shell is passed by name, also to a daemon that was started without it', async () => {
  const line = new CommandLine()
  expect(await line.run(['run', '-c', 'echo "[$ACME_API_KEY]"'])).toMatchObject({ stdout: '[]\n' })
  const env = { ACME_API_KEY: 'correct-horse-battery' }
  const count = 'printf %s "$ACME_API_KEY" | wc -c'
  const run = ['run', '--no-inherit-env']
  expect(await line.run([...run, '-c', count], { env })).toMatchObject({ stdout: '0\n' })
  const passed = await line.run([...run, '--pass-env', 'ACME_API_KEY', '-c', count], { env })
  expect(passed).toMatchObject({ code: 0, stdout: '21\n' })
})
