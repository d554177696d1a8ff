import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { pidFrom } from '../../src/core/process/pid.ts'
import { until } from '../keeper/client.ts'
import { codeOf, ended, printed, start, TempReeve } from './commands.ts'

const SERVER = (port: string) =>
  `const s = require('node:http').createServer((_, a) => a.end('hi')); s.listen(${port}, '127.0.0.1', () => console.log('port', s.address().port))`

test('a command is ready when a line says so, a port accepts, a URL answers or a line for the shell succeeds', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  await reeve.openSession({ session: 's1' })
  const scout = await start(reeve, { argv: [process.execPath, '-e', SERVER('0')] })
  await printed(reeve, scout.pid, 'port')
  const [line] = (await reeve.log({ pid: scout.pid })).lines
  const port = Number(line?.text.split(' ')[1])
  await reeve.kill({ pid: scout.pid })
  const flag = join(temp.folder, 'flag')
  const server = [process.execPath, '-e', SERVER(String(port))]
  const specs = [
    { run: `printf 'now rea'; sleep 0.1; printf dy; exec sleep 1000`, ready: { log: 'ready$' } },
    { argv: server, ready: { port } },
    { argv: server, ready: { http: `http://127.0.0.1:${port}/` } },
    { run: `sleep 0.2; touch ${flag}; exec sleep 1000`, ready: { command: `test -e ${flag}` } },
  ]
  for (const spec of specs) {
    const { pid } = await start(reeve, spec, { owner: { session: 's1' } })
    const waited = await reeve.wait({ pid, ready: true, timeoutMs: 20_000 })
    expect(waited).toMatchObject({ type: 'ready', record: { readiness: { ready: true } } })
    expect(await reeve.wait({ pid, ready: true })).toMatchObject({ type: 'ready' })
    if ('argv' in spec) {
      const [listed] = (await reeve.list({ filter: { pid: [pid] }, ports: true })).processes
      expect(listed?.ports).toEqual([port])
    }
    await reeve.kill({ pid })
  }
  const { notices } = await reeve.notices({ scope: 'session:s1' })
  const told = notices.filter(({ kind }) => kind === 'ready').map(({ payload }) => Object(payload).own)
  expect(told).toEqual([undefined, true, undefined, undefined])
})

test('a ready command has the folder and the environment of its command, and no secret of the daemon', async () => {
  process.env['FAKE_API_KEY'] = 'sk-fake'
  onTestFinished(() => void delete process.env['FAKE_API_KEY'])
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  const cwd = join(temp.folder, 'there')
  mkdirSync(cwd)
  const spec = {
    run: 'exec sleep 1000',
    env: { MINE: 'mine' },
    ready: { command: 'echo "$MINE/$FAKE_API_KEY/$PYTHONUNBUFFERED" > seen; pwd >> seen' },
  }
  const { pid } = await start(reeve, spec, { cwd })
  expect(await reeve.wait({ pid, ready: true, timeoutMs: 20_000 })).toMatchObject({ type: 'ready' })
  expect(readFileSync(join(cwd, 'seen'), 'utf8')).toBe(`mine//1\n${cwd}\n`)
})

test('nothing that a ready command started outlives its try, the process, or a daemon that is killed', async () => {
  await using temp = new TempReeve()
  const mark = (name: string) => join(temp.folder, name)
  const left = (name: string) => alive(mark(name))
  // Each program that is left has the file as an argument.
  const leaves = (name: string) =>
    `sh -c 'sleep 1000; : "$0"' ${mark(name)} & sh -c 'sleep 1000; : "$0"' ${mark(name)}`
  const { startDaemon } = await import('./daemon-program.ts')
  const daemon = await startDaemon(temp)
  const spawn = async (ready: string) => {
    const spec = { run: 'exec sleep 1000', ready: { command: ready } }
    return (await daemon.call('spawn', { kind: 'command', spec, lifetime: 'detached' })).record
  }
  const done = await spawn(`sh -c 'sleep 1000; : "$0"' ${mark('done')} & true`)
  await daemon.call('wait', { pid: done.pid, ready: true, timeoutMs: 20_000 })
  await until('nothing is left of a try that succeeded', () => left('done').length === 0)
  const ending = await spawn(leaves('ending'))
  await until('it is tried', () => left('ending').length === 2)
  await daemon.call('kill', { pid: ending.pid })
  await until('nothing is left of it', () => left('ending').length === 0)
  await spawn(leaves('killed'))
  await until('it is tried', () => left('killed').length === 2)
  await daemon.kill()
  await until('nothing is left of it', () => left('killed').length === 0)
  await temp.embed()
})

test('a readiness timeout is reported once, and a wait for readiness ends with the process', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  await reeve.openSession({ session: 's1' })
  const spec = { run: 'exec sleep 1000', ready: { log: 'never', timeoutMs: 50 } }
  const { pid } = await start(reeve, spec, { owner: { session: 's1' } })
  expect(await reeve.wait({ pid, ready: true })).toMatchObject({
    type: 'not_ready',
    record: { status: 'running' },
  })
  const [notice] = (await reeve.notices({ scope: 'session:s1', waitMs: 10_000 })).notices
  expect(notice?.text).toContain('was not ready within 0.05 s')
  const quick = await start(reeve, { run: 'exit 4', ready: { port: 1 } })
  expect(await reeve.wait({ pid: quick.pid, ready: true })).toMatchObject({ type: 'ended' })
  const plain = await start(reeve, 'true')
  expect(await codeOf(reeve.wait({ pid: plain.pid, ready: true }))).toBe('no_readiness')
})

test('a readiness timeout reports the last failure, and names a port that another program uses', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  await reeve.openSession({ session: 's1' })
  const server = createServer((_, answer) => answer.writeHead(503).end()).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  const free = createServer().listen(0, '127.0.0.1')
  await once(free, 'listening')
  const closed = (free.address() as AddressInfo).port
  free.close()
  const cases = [
    [{ command: 'exit 7' }, /The last try: exit code 7\./],
    [{ port: closed }, /The last try: ECONNREFUSED\./],
    [{ http: `http://127.0.0.1:${port}/` }, /The last try: HTTP status 503\./],
    [{ http: `http://127.0.0.1:${closed}/` }, /The last try: ECONNREFUSED\./],
    [{ port }, /accepts connections\. But nothing of its own was seen to listen there/],
  ] as const
  for (const [index, [ready, text]] of cases.entries()) {
    const spec = { run: 'exec sleep 1000', notify: 'none', ready: { ...ready, timeoutMs: 1 } } as const
    const { pid } = await start(reeve, spec, { owner: { session: 's1' } })
    await reeve.wait({ pid, ready: true, timeoutMs: 20_000 })
    const { notices } = await reeve.notices({ scope: 'session:s1' })
    expect(notices[index]?.text).toMatch(text)
  }
})

test('a command that became ready while no daemon ran is ready for the next daemon, however late it starts', async () => {
  await using temp = new TempReeve()
  const { startDaemon } = await import('./daemon-program.ts')
  const daemon = await startDaemon(temp)
  await daemon.call('openSession', { session: 's1' })
  const go = join(temp.folder, 'go')
  const run = `while [ ! -e ${go} ]; do sleep 0.02; done; echo server ready; touch ${go}.said; exec sleep 1000`
  const timeoutMs = 3_000
  const { record } = await daemon.call('spawn', {
    kind: 'command',
    spec: { run, ready: { log: 'ready', timeoutMs } },
    owner: { session: 's1' },
  })
  await daemon.kill()
  writeFileSync(go, '')
  await until('it has said so', () => existsSync(`${go}.said`))
  await until('its time is up', () => Date.now() > record.createdAt + timeoutMs + 1_000)
  const reeve = await temp.embed()
  expect(await reeve.wait({ pid: record.pid, ready: true })).toMatchObject({ type: 'ready' })
  const { notices } = await reeve.notices({ scope: 'session:s1' })
  expect(notices.map(({ text }) => text)).toEqual([expect.stringContaining('is ready since')])
})

test('the last words before the end are readiness too, without a newline', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  const { pid } = await start(reeve, { run: 'printf ready', ready: { log: '^ready$' } })
  expect((await ended(reeve, pid)).readiness).toMatchObject({ ready: true })
})

test('a command that failed is started again under its name, with a limit, and one that was killed is not', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  const restart = { on: 'failure', delayMs: 1, limit: 2 } as const
  const first = await start(reeve, { run: 'exit 3', restart }, { name: 'job' })
  await ended(reeve, first.pid)
  const runs = async () => (await reeve.list({ filter: { name: 'job', status: 'any' } })).processes
  const chain = async () => {
    let { pid } = first
    for (;;) {
      await ended(reeve, pid)
      const next = (await runs()).find(({ record }) => record.restartOf === pid)
      if (next === undefined) return
      pid = next.record.pid
    }
  }
  await chain()
  expect((await runs()).map(({ record }) => [record.status, record.restartOf !== null])).toEqual([
    ['failed', false],
    ['failed', true],
    ['failed', true],
  ])
  const once = await start(reeve, { run: 'exit 0', restart }, { name: 'fine' })
  await ended(reeve, once.pid)
  const killed = await start(
    reeve,
    { run: 'exec sleep 1000', restart: { on: 'always', delayMs: 1 } },
    { name: 'web' },
  )
  await reeve.kill({ pid: killed.pid })
  const all = (await reeve.list({ filter: { status: 'any' } })).processes
  expect(all.map(({ record }) => record.name).sort()).toEqual(['fine', 'job', 'job', 'job', 'web'])
})

test('an end under a restart policy names the next process, or the reason why there is none', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  await reeve.openSession({ session: 's1' })
  const restart = { on: 'failure', delayMs: 1, limit: 1 } as const
  const first = await start(reeve, { run: 'exit 3', restart }, { owner: { session: 's1' } })
  const { outcome } = await ended(reeve, first.pid)
  const next: string = Object(outcome?.result).restart.pid
  expect((await ended(reeve, next)).restartOf).toBe(first.pid)
  expect((await reeve.show({ pid: next })).outcome?.result).toMatchObject({
    restart: { refused: 'the limit for restarts in a row (1) is reached' },
  })
  const { notices } = await reeve.notices({ scope: 'session:s1', all: true })
  expect(notices.map(({ text }) => text)).toEqual([
    expect.stringContaining(`It is started again as ${next}.`),
    expect.stringContaining('It is not started again: the limit for restarts in a row (1) is reached.'),
  ])
  const once = await ended(reeve, (await start(reeve, { run: 'exit 0', restart })).pid)
  expect(once.outcome?.result).not.toHaveProperty('restart')
})

test('no caller can register a process under the pid of a restart', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  for (const session of ['victim', 'thief']) await reeve.openSession({ session })
  const go = join(temp.folder, 'go')
  const first = await start(
    reeve,
    {
      run: `while [ ! -e ${go} ]; do sleep 0.02; done; exit 3`,
      restart: { on: 'failure', delayMs: 1, limit: 1 },
    },
    { owner: { session: 'victim' } },
  )
  // The pid of a restart was once predictable from the pid of the command.
  const taken = pidFrom(createHash('sha256').update(`restart of ${first.pid}`).digest())
  const own = { kind: 'external', spec: { description: 'x' }, pid: taken, restartOf: first.pid } as const
  await reeve.as('session:thief').spawn(own)
  writeFileSync(go, '')
  const { outcome } = await ended(reeve, first.pid)
  const next: string = Object(outcome?.result).restart.pid
  expect(next).not.toBe(taken)
  expect(await ended(reeve, next)).toMatchObject({ restartOf: first.pid, owner: { session: 'victim' } })
})

test('a restart that was due while no daemon was there comes with the next, once', async () => {
  await using temp = new TempReeve()
  const go = join(temp.folder, 'go')
  const { startDaemon } = await import('./daemon-program.ts')
  const daemon = await startDaemon(temp)
  const { record } = await daemon.call('spawn', {
    kind: 'command',
    name: 'job',
    spec: {
      run: `if [ -e ${go} ]; then exec sleep 1000; fi; while [ ! -e ${go} ]; do sleep 0.02; done; exit 3`,
      restart: { on: 'failure', delayMs: 1 },
    },
  })
  await daemon.kill()
  writeFileSync(go, '')
  const reeve = await temp.embed()
  await ended(reeve, record.pid)
  const { processes } = await reeve.list({ filter: { name: 'job' } })
  expect(processes.map(({ record: { restartOf } }) => restartOf)).toEqual([record.pid])
  const { outcome } = await reeve.show({ pid: record.pid })
  expect(outcome?.result).toMatchObject({ restart: { pid: processes[0]?.record.pid } })
})

/** The OS processes with this text among their arguments. */
function alive(text: string): number[] {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return []
    try {
      const argv = readFileSync(`/proc/${name}/cmdline`, 'utf8').split('\0')
      return argv.includes(text) ? [Number(name)] : []
    } catch {
      // Gone meanwhile.
      return []
    }
  })
}
