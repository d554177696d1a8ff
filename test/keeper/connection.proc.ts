import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { exitOf, RefusedAsk, startTimeOf, TempKeeper, until } from './client.ts'

test('a second daemon is refused with the PID of the first, until that is dead', async () => {
  await using temp = new TempKeeper()
  await temp.startKeeper()
  const first = spawn('sleep', ['300'])
  try {
    const osPid = first.pid!
    const one = await temp.daemon({ osPid, startTime: startTimeOf(osPid) })
    await one.sh('p_stay', 'exec sleep 300')

    const refused = await temp.daemon().catch((error: unknown) => error)
    expect(refused).toBeInstanceOf(RefusedAsk)
    expect((refused as RefusedAsk).refusal).toMatchObject({ code: 'busy', osPid })

    await ended(first)
    const two = await temp.daemon()
    expect(await two.ask('state', { pid: 'p_stay' })).toMatchObject({ state: 'running', orphaned: false })
    await one.closed
    await two.ask('end', { pid: 'p_stay', signal: 'SIGKILL', graceMs: 1 })
  } finally {
    await ended(first)
  }
})

test('the same daemon may come back on a new connection', async () => {
  await using temp = new TempKeeper()
  await temp.startKeeper()
  const before = await temp.daemon()
  await before.sh('p_here', 'exec sleep 300')
  const after = await temp.daemon()
  expect(await after.ask('state', { pid: 'p_here' })).toMatchObject({ state: 'running' })
  await before.closed
  await after.ask('end', { pid: 'p_here', signal: 'SIGKILL', graceMs: 1 })
})

test('without the token, the protocol or a hello nothing is answered', async () => {
  await using temp = new TempKeeper()
  await temp.startKeeper()
  const stranger = await temp.connect()
  await expect(stranger.hello('not the token')).rejects.toThrow('wrong_token')
  await stranger.closed

  const silent = await temp.connect()
  await expect(silent.sh('p_no', 'echo no')).rejects.toThrow('bad_ask')
  await silent.closed

  const other = await temp.connect()
  const daemon = { osPid: process.pid, startTime: startTimeOf(process.pid) }
  await expect(other.ask('hello', { protocol: 999, token: '', daemon })).rejects.toThrow('wrong_protocol')
  await other.closed

  expect(await (await temp.daemon()).ask('state', { pid: 'p_no' })).toBeNull()
})

test('a broken line ends its connection and nothing else', async () => {
  await using temp = new TempKeeper()
  await temp.startKeeper()
  const daemon = await temp.daemon()
  await daemon.sh('p_on', 'exec sleep 300')
  for (const text of ['not json\n', '[]\n', '{"id":"x"}\n', 'null\n']) {
    const broken = await temp.connect()
    broken.send(text)
    await broken.closed
  }
  expect(await daemon.ask('state', { pid: 'p_on' })).toMatchObject({ state: 'running' })
  await expect(daemon.ask('state', { pid: '../../etc/passwd' })).rejects.toThrow('bad_ask')
  await expect(daemon.ask('state', { pid: 7 as unknown as string })).rejects.toThrow('bad_ask')
  await expect(daemon.ask('nothing' as 'state', { pid: 'p_on' })).rejects.toThrow('bad_ask')
  await expect(daemon.ask('resume', { pid: 'p_unknown' })).rejects.toThrow('unknown_pid')
  await expect(daemon.ask('spawn', { pid: 'p_bad', fence: 1 } as never)).rejects.toThrow('bad_ask')
  expect(await daemon.ask('state', { pid: 'p_on' })).toMatchObject({ state: 'running' })
})

test('a question that is too long is refused with words, and the connection goes on', async () => {
  await using temp = new TempKeeper()
  await temp.startKeeper()
  const daemon = await temp.daemon()
  const started = daemon.sh('p_on', 'exec sleep 300')
  const long = daemon.sh('p_long', `: ${'x'.repeat(17 * 1024 * 1024)}`)
  await expect(long).rejects.toThrow('bad_ask: A question of more than 16777216 bytes')
  expect(await started).toMatchObject({ state: 'running' })
  expect(await daemon.ask('state', { pid: 'p_on' })).toMatchObject({ state: 'running' })
  expect(daemon.isClosed).toBe(false)
})

test('a connection that is closed for a malformed line gets the reason, and so does the log', async () => {
  await using temp = new TempKeeper()
  await temp.startKeeper()
  const daemon = await temp.daemon()
  daemon.send('not json\n')
  await daemon.closed
  expect(daemon.tells).toMatchObject([
    { tell: 'trouble', pid: null, message: expect.stringContaining('could not read') },
  ])
  expect(temp.keeperLog()).toContain('could not read')
})

test('ends without a daemon are reported to the next one, until they are acknowledged', async () => {
  await using temp = new TempKeeper()
  await temp.startKeeper()
  const before = await temp.daemon()
  await before.sh('p_stays', 'exec sleep 300')
  await before.sh('p_alone', 'sleep 0.3; echo alone; exit 4')
  before.close()
  await until('it has written', () => temp.output('p_alone').text === 'alone\n')

  const after = await temp.daemon()
  expect(await after.exit('p_alone')).toMatchObject({ exitCode: 4, outputEnd: 6 })
  after.close()
  const again = await temp.daemon()
  expect(await again.exit('p_alone')).toMatchObject({ exitCode: 4, outputEnd: 6 })
  await expect(again.ask('acknowledge', { pid: 'p_stays' })).rejects.toThrow('bad_ask')
  await again.ask('acknowledge', { pid: 'p_alone' })
  await again.ask('acknowledge', { pid: 'p_alone' })
  expect(await again.ask('state', { pid: 'p_alone' })).toBeNull()
  await again.ask('end', { pid: 'p_stays', signal: 'SIGKILL', graceMs: 1 })
})

test('only a follower is notified that a log grows', async () => {
  await using temp = new TempKeeper()
  await temp.startKeeper()
  const daemon = await temp.daemon()
  await daemon.sh('p_grow', 'read a; echo one; read b; echo two', { stdin: 'pipe' })
  await daemon.sh('p_quiet', 'echo not followed')
  await daemon.exit('p_quiet')
  expect(await daemon.ask('follow', { pid: 'p_grow', on: true })).toEqual({ end: 0 })
  expect(await daemon.ask('follow', { pid: 'p_quiet', on: true })).toEqual({ end: 13 })
  await daemon.write('p_grow', 'a\n')
  await until('growth is told', () => daemon.tells.some((tell) => tell.tell === 'grew' && tell.end === 4))
  await daemon.ask('follow', { pid: 'p_grow', on: false })
  await daemon.write('p_grow', 'b\n')
  await daemon.exit('p_grow')
  const grown = daemon.tells.flatMap((tell) => (tell.tell === 'grew' ? [[tell.pid, tell.end]] : []))
  expect(grown).toEqual([['p_grow', 4]])
})

test('a keeper without programs exits: at once after a leave, or some time after its daemon is gone', async () => {
  await using temp = new TempKeeper()
  const told = await temp.startKeeper()
  const daemon = await temp.daemon()
  await daemon.sh('p_quick', 'exit 0')
  await daemon.exit('p_quick')
  expect(await daemon.ask('leave', {})).toEqual({ stays: false })
  expect(await exitOf(told)).toBe(0)

  const lingering = await temp.startKeeper()
  const next = await temp.daemon()
  expect(await next.exit('p_quick')).toMatchObject({ exitCode: 0 })
  next.close()
  expect(await exitOf(lingering)).toBe(0)
  expect(() => statSync(temp.home.keeper.socket)).toThrow('ENOENT')
})

test('a keeper with programs stays when its daemon leaves, and ignores SIGTERM', async () => {
  await using temp = new TempKeeper()
  const keeper = await temp.startKeeper()
  const daemon = await temp.daemon()
  await daemon.sh('p_keep', 'exec sleep 300')
  expect(await daemon.ask('leave', {})).toEqual({ stays: true })
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) keeper.kill(signal)
  await until('it says that it stays', () => temp.keeperLog().includes('SIGTERM is not followed'))
  expect(await daemon.ask('state', { pid: 'p_keep' })).toMatchObject({ state: 'running' })
  await daemon.ask('end', { pid: 'p_keep', signal: 'SIGKILL', graceMs: 1 })
  keeper.kill('SIGTERM')
  expect(await exitOf(keeper)).toBe(0)
})

test('a long log of earlier keepers is set aside, and only one of them is kept', async () => {
  await using temp = new TempKeeper()
  const { folder, log } = temp.home.keeper
  mkdirSync(folder, { recursive: true })
  writeFileSync(`${log}.1`, 'the oldest')
  writeFileSync(log, 'x'.repeat(1024 * 1024 + 1))
  await temp.startKeeper()
  expect(statSync(log).size).toBe(0)
  expect(statSync(`${log}.1`).size).toBe(1024 * 1024 + 1)
  await temp.killKeeper()
  writeFileSync(log, 'short')
  await temp.startKeeper()
  expect(readFileSync(log, 'utf8')).toBe('short')
})

test('a second keeper on a folder goes without a word', async () => {
  await using temp = new TempKeeper()
  await temp.startKeeper()
  const second = temp.runKeeper()
  expect(await exitOf(second)).toBe(75)
  expect(temp.keeperLog().replaceAll(/.*ExperimentalWarning.*\n.*--trace-warnings.*\n/g, '')).toBe('')
  await temp.daemon()
})

test('only its user may reach a keeper, however long the path', async () => {
  await using temp = new TempKeeper(undefined, 'x'.repeat(90))
  await temp.startKeeper()
  expect(statSync(temp.home.keeper.socket).mode & 0o777).toBe(0o600)
  expect(statSync(temp.home.keeper.token).mode & 0o777).toBe(0o600)
  expect(statSync(temp.home.live).mode & 0o777).toBe(0o700)
  const daemon = await temp.daemon()
  await daemon.sh('p_ok', 'exit 0')
  expect((await daemon.exit('p_ok')).exitCode).toBe(0)
})

async function ended(child: ChildProcess): Promise<void> {
  const gone = exitOf(child)
  child.kill('SIGKILL')
  await gone
}
