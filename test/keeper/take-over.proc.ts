import { readdirSync, readFileSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { builtFixture } from '../built-file.ts'
import { type Daemon, exitOf, startTimeOf, TempKeeper, until } from './client.ts'

const caps = { headBytes: 1000, tailBytes: 100_000_000, segmentBytes: 1_000_000, minFreeBytes: 0 }

test('a program whose keeper is killed again and again loses no line, and its exit code stays unknown', async () => {
  await using temp = new TempKeeper()
  await temp.startKeeper()
  let daemon = await temp.daemon()
  const go = (round: number) => join(temp.folder, `go-${round}`)
  const print = 'j=0; while [ $j -lt 10000 ]; do i=$((i+1)); j=$((j+1)); echo line $i; done'
  const waits = `while [ ! -e ${go(0).slice(0, -1)}$k ]; do sleep 0.01; done`
  await daemon.sh(
    'p_lines',
    `i=0; for k in 0 1 2 3; do ${waits}; ${print}; done; ${waits.replace('$k', '4')}`,
    { caps },
  )

  // More is printed than a pipe holds, also while there is no keeper. None is killed while it has a chunk in its hands: that one
  // would be lost, since nothing but a read takes bytes from a pipe.
  for (let round = 0; round < 4; round++) {
    const last = `line ${(round + 1) * 10_000}\n`
    if (round > 0) await temp.killKeeper()
    writeFileSync(go(round), '')
    if (round > 0) {
      await temp.startKeeper()
      daemon = await temp.daemon()
    }
    await until('all of the round has come', () => temp.output('p_lines').text.endsWith(last))
  }
  writeFileSync(go(4), '')
  const lost = await daemon.ended('p_lines')
  expect(lost).toMatchObject({ state: 'lost', evidence: 'keeper_lost' })
  const lines = temp.output('p_lines').text.split('\n')
  expect(lines.length).toBe(40_001)
  expect(lines.findIndex((line, at) => at < 40_000 && line !== `line ${at + 1}`)).toBe(-1)
  expect(lost).toMatchObject({ outputEnd: temp.output('p_lines').text.length })
  expect(readdirSync(temp.home.fifos).filter((name) => !name.startsWith('ready'))).toEqual([])
})

test('an orphan can be watched, paused and ended, its limits hold, and no exit is made up', async () => {
  await using temp = new TempKeeper()
  await temp.startKeeper()
  const before = await temp.daemon()
  await before.sh('p_orphan', 'while :; do echo x; sleep 0.02; done', { stdin: 'pipe' })
  await before.sh('p_limited', 'exec sleep 300', { timeoutMs: 5_000 })
  await temp.killKeeper()
  await temp.startKeeper()

  const daemon = await temp.daemon()
  expect(await daemon.ask('state', { pid: 'p_orphan' })).toMatchObject({ state: 'running', orphaned: true })
  expect(await daemon.write('p_orphan', 'x')).toEqual({ type: 'closed' })
  expect((await daemon.ask('pause', { pid: 'p_orphan' })).stopped).toBeGreaterThan(0)
  expect((await daemon.ask('resume', { pid: 'p_orphan' })).continued).toBeGreaterThan(0)
  const { end } = await daemon.ask('follow', { pid: 'p_orphan', on: true })
  await until('growth is told', () => daemon.tells.some((tell) => tell.tell === 'grew' && tell.end > end))
  expect(await daemon.ask('end', { pid: 'p_orphan', signal: 'SIGTERM', graceMs: 60_000 })).toEqual({
    how: 'asked',
  })
  expect(await daemon.ask('state', { pid: 'p_orphan' })).toMatchObject({
    state: 'lost',
    evidence: 'keeper_lost',
  })
  expect(await daemon.ended('p_limited')).toMatchObject({ state: 'lost', evidence: 'keeper_lost' })
})

test('a program whose time was up while there was no keeper is ended by the next one', async () => {
  await using temp = new TempKeeper()
  await temp.startKeeper()
  const before = await temp.daemon()
  await before.sh('p_late', 'exec sleep 300', { timeoutMs: 3_000 })
  const startedBefore = Date.now()
  await temp.killKeeper()
  await until('its time is up', () => Date.now() > startedBefore + 3_000)
  await temp.startKeeper()
  const daemon = await temp.daemon()
  expect(await daemon.ended('p_late')).toMatchObject({ state: 'lost', evidence: 'keeper_lost' })
})

test('a program in a terminal is ended with all its descendants when its keeper is lost', async () => {
  await using temp = new TempKeeper()
  await temp.startKeeper()
  const before = await temp.daemon()
  await before.sh(
    'p_term',
    `trap "" HUP TERM; setsid sh -c 'trap "" HUP TERM; echo $$; exec sleep 300' & echo $$; wait`,
    {
      pty: { cols: 80, rows: 24 },
      graceMs: 200,
    },
  )
  const osPids = await until('both have begun', () => {
    const found = temp.output('p_term').text.match(/^\d+(?=\r)/gm)
    return found?.length === 2 ? found.map(Number) : null
  })
  await temp.killKeeper()
  await temp.startKeeper()
  const daemon = await temp.daemon()
  expect(await daemon.ended('p_term')).toMatchObject({ state: 'lost', evidence: 'keeper_lost' })
  for (const osPid of osPids) expect(startTimeOf(osPid)).toBe('')
})

test('a program that ended between two keepers is lost, the rest of its pipe is read, and its strays are ended', async () => {
  await using temp = new TempKeeper()
  await temp.startKeeper()
  const before = await temp.daemon()
  const go = join(temp.folder, 'go')
  const started = await before.sh(
    'p_between',
    `sleep 300 & echo early; while [ ! -e ${go} ]; do sleep 0.01; done; echo last; echo $!`,
  )
  await until('it has written', () => temp.output('p_between').text === 'early\n')
  await temp.killKeeper()
  // The sleeper inherits the pipe, so that it lives until the next keeper comes.
  writeFileSync(go, '')
  await until('it is gone', () => isOver(started))
  await temp.startKeeper()
  const daemon = await temp.daemon()
  expect(await daemon.ended('p_between')).toMatchObject({ state: 'lost', evidence: 'keeper_lost' })
  const [, last, sleeper] = temp.output('p_between').text.split('\n')
  expect(last).toBe('last')
  expect(startTimeOf(Number(sleeper))).toBe('')
})

test('a program of an earlier boot is lost', async () => {
  await using temp = new TempKeeper()
  await temp.startKeeper()
  const before = await temp.daemon()
  const started = await before.sh('p_boot', 'echo before; exec sleep 300')
  await until('it has written', () => temp.output('p_boot').text === 'before\n')
  await temp.killKeeper()
  for (const file of ['p_boot.intent', 'p_boot.program']) changeBoot(join(temp.home.live, file))
  await temp.startKeeper()
  const daemon = await temp.daemon()
  expect(await daemon.ended('p_boot')).toMatchObject({
    state: 'lost',
    evidence: 'holder_dead',
    outputEnd: 7,
  })
  // A PID of another boot is a stranger's: this one was not signalled.
  expect(isOver(started)).toBe(false)
  if (started.state === 'running') process.kill(started.program.osPid, 'SIGKILL')
})

test('an unacknowledged exit is known to the next keeper', async () => {
  await using temp = new TempKeeper()
  await temp.startKeeper()
  const before = await temp.daemon()
  await before.sh('p_done', 'echo out; exit 9')
  const exit = await before.exit('p_done')
  await before.spawn('p_failed', { argv: ['no-such-program-here'] })
  await temp.killKeeper()
  await temp.startKeeper()
  const daemon = await temp.daemon()
  expect(await daemon.exit('p_done')).toEqual(exit)
  expect(await daemon.ended('p_failed')).toMatchObject({ state: 'failed_start' })
  expect(await daemon.sh('p_done', 'echo again')).toMatchObject({ state: 'exited', exit })
  expect(temp.output('p_done').text).toBe('out\n')
})

test('a spawn that was begun is never begun again, whether or not its program is found', async () => {
  await using temp = new TempKeeper()
  await temp.startKeeper()
  const before = await temp.daemon()
  await before.sh('p_found', 'echo $$; exec sleep 300')
  await before.sh('p_never', 'exec sleep 300')
  const found = await until('it has begun', () => Number(temp.output('p_found').text) || null)
  const never = await before.ask('state', { pid: 'p_never' })
  await temp.killKeeper()
  // As if that keeper had died right after the fork, and right before it.
  removeProgramFile(temp, 'p_found')
  removeProgramFile(temp, 'p_never')
  if (never?.state === 'running') {
    process.kill(never.program.osPid, 'SIGKILL')
    await until('it is gone', () => isOver(never))
  }
  await temp.startKeeper()
  const daemon = await temp.daemon()
  expect(await daemon.sh('p_found', 'echo twice')).toMatchObject({
    state: 'running',
    orphaned: true,
    program: { osPid: found, tree: 'marker' },
  })
  expect(await daemon.sh('p_never', 'echo twice')).toMatchObject({ state: 'lost', evidence: 'keeper_lost' })
  expect(temp.output('p_found').text).toBe(`${found}\n`)
})

test('a stranger that has the PID of a lost program is not touched', async () => {
  await using temp = new TempKeeper()
  await temp.startKeeper()
  const before = await temp.daemon()
  const started = await before.sh('p_gone', 'exec sleep 300')
  const stranger = await before.sh('p_stranger', 'exec sleep 300')
  if (started.state !== 'running' || stranger.state !== 'running') throw new Error('not started')
  await temp.killKeeper()
  process.kill(started.program.osPid, 'SIGKILL')
  const path = join(temp.home.live, 'p_gone.program')
  const { osPid } = stranger.program
  // A PID is reused later. Both programs may have begun within one clock tick here, with the same start time.
  const startTime = String(Number(stranger.program.startTime) - 1)
  writeFileSync(
    path,
    JSON.stringify({ ...started.program, osPid, startTime, group: osPid, cgroup: null, tree: 'marker' }),
  )
  await temp.startKeeper()
  const daemon = await temp.daemon()
  expect(await daemon.ended('p_gone')).toMatchObject({ state: 'lost', evidence: 'keeper_lost' })
  expect(await daemon.ask('end', { pid: 'p_gone', signal: 'SIGKILL', graceMs: 1 })).toEqual({
    how: 'not_ours',
  })
  expect(startTimeOf(osPid)).toBe(stranger.program.startTime)
  expect(await daemon.ask('state', { pid: 'p_stranger' })).toMatchObject({ state: 'running' })
  await endAll(daemon, ['p_stranger'])
})

test('programs of a keeper that lives are left to it', async () => {
  await using temp = new TempKeeper()
  await temp.startKeeper()
  const daemon = await temp.daemon()
  await daemon.sh('p_old', 'exec sleep 300')
  const other = temp.sameFolder(7)
  const keeper = await other.startKeeper(builtFixture('other-protocol'))
  expect(await daemon.ask('state', { pid: 'p_old' })).toMatchObject({ state: 'running', orphaned: false })
  const elsewhere = await other.connect()
  const token = readFileSync(other.home.keeper.token, 'utf8').trim()
  const me = { osPid: process.pid, startTime: startTimeOf(process.pid) }
  expect(await elsewhere.ask('hello', { protocol: 7, token, daemon: me })).toMatchObject({
    keeper: { protocol: 7 },
    programs: [],
  })
  await elsewhere.ask('leave', {})
  expect(await exitOf(keeper)).toBe(0)
  await endAll(daemon, ['p_old'])
})

test('programs of a keeper of another protocol that dies are taken over when that is asked for', async () => {
  await using temp = new TempKeeper()
  await temp.startKeeper()
  const daemon = await temp.daemon()
  await daemon.sh('p_mine', 'exec sleep 300')
  await using other = temp.sameFolder(7)
  await other.startKeeper(builtFixture('other-protocol'))
  const old = await other.connect()
  const token = readFileSync(other.home.keeper.token, 'utf8').trim()
  const me = { osPid: process.pid, startTime: startTimeOf(process.pid) }
  await old.ask('hello', { protocol: 7, token, daemon: me })
  await old.sh('p_theirs', 'exec sleep 300')
  await old.sh('p_over', 'exit 6')
  await old.exit('p_over')
  expect((await daemon.ask('recover', {})).programs.map(({ pid }) => pid)).toEqual(['p_mine'])
  await other.killKeeper()

  const { programs } = await daemon.ask('recover', {})
  const [mine, theirs, over] = ['p_mine', 'p_theirs', 'p_over'].map((pid) =>
    programs.find((one) => one.pid === pid),
  )
  expect(mine).toMatchObject({ state: 'running', orphaned: false })
  expect(theirs).toMatchObject({ state: 'running', orphaned: true })
  expect(over).toMatchObject({ state: 'exited', exit: { exitCode: 6 } })
  await endAll(daemon, ['p_mine', 'p_theirs'])
})

for (const [output, pty] of [
  ['merged', null],
  ['direct', null],
  ['merged', { cols: 80, rows: 24 }],
] as const)
  test(`a living program (${pty === null ? output : 'in a terminal'}) whose intent can't be read is not called lost`, async () => {
    await using temp = new TempKeeper()
    await temp.startKeeper()
    const before = await temp.daemon()
    const go = join(temp.folder, 'go')
    const script = `trap "" HUP; echo early; while [ ! -e ${go} ]; do sleep 0.01; done; echo last`
    const started = await before.sh('p_unread', script, { output, pty })
    await until('it has written', () => temp.output('p_unread').text.startsWith('early'))
    await temp.killKeeper()
    truncateSync(join(temp.home.live, 'p_unread.intent'), 10)
    await temp.startKeeper()
    const daemon = await temp.daemon()
    if (pty === null) {
      expect(await daemon.ask('state', { pid: 'p_unread' })).toMatchObject({
        state: 'running',
        orphaned: true,
        program: { osPid: osPidOf(started) },
      })
      writeFileSync(go, '')
    }
    expect(await daemon.ended('p_unread')).toMatchObject({ state: 'lost', evidence: 'keeper_lost' })
    expect(isOver(started)).toBe(true)
    if (pty === null) expect(temp.output('p_unread').text).toBe('early\nlast\n')
  })

test('a program that cannot be taken over yet counts as running, is reported as trouble, and is retried', async () => {
  await using temp = new TempKeeper()
  await temp.startKeeper()
  const before = await temp.daemon()
  const started = await before.sh('p_later', 'while :; do echo x; sleep 0.02; done')
  const other = await before.sh('p_other', 'exec sleep 300')
  await until('it writes', () => temp.output('p_later').text !== '')
  await temp.killKeeper()
  // A log in which nothing can be written, as on a disk that is full.
  const log = join(temp.home.output, 'p_later')
  renameSync(log, `${log}.aside`)
  writeFileSync(log, '')
  await temp.startKeeper()
  const daemon = await temp.connect()
  const { programs } = await daemon.hello(readFileSync(temp.home.keeper.token, 'utf8').trim())
  const sorted = programs.toSorted((one, other) => one.pid.localeCompare(other.pid))
  expect(sorted).toMatchObject([
    { pid: 'p_later', state: 'running', orphaned: true, program: { osPid: osPidOf(started) } },
    { pid: 'p_other', state: 'running', orphaned: true, program: { osPid: osPidOf(other) } },
  ])
  const trouble = await until('trouble is told', () => daemon.tells.find(({ tell }) => tell === 'trouble'))
  expect(trouble).toMatchObject({ pid: 'p_later', message: expect.stringContaining("can't be taken over") })
  await expect(daemon.ask('pause', { pid: 'p_later' })).rejects.toThrow('tried again')

  rmSync(log)
  renameSync(`${log}.aside`, log)
  const { length } = temp.output('p_later').text
  await until('its output comes again', () => temp.output('p_later').text.length > length)
  expect((await daemon.ask('pause', { pid: 'p_later' })).stopped).toBeGreaterThan(0)
  await endAll(daemon, ['p_later', 'p_other'])
  expect(await daemon.ended('p_later')).toMatchObject({ state: 'lost' })
})

test('one that cannot be taken over can be ended all the same', async () => {
  await using temp = new TempKeeper()
  await temp.startKeeper()
  const before = await temp.daemon()
  const started = await before.sh('p_end', 'exec sleep 300')
  await temp.killKeeper()
  const log = join(temp.home.output, 'p_end')
  rmSync(log, { recursive: true })
  writeFileSync(log, '')
  await temp.startKeeper()
  const daemon = await temp.daemon()
  expect(await daemon.ask('end', { pid: 'p_end', signal: 'SIGTERM', graceMs: 60_000 })).toEqual({
    how: 'asked',
  })
  expect(isOver(started)).toBe(true)
  rmSync(log)
  expect(await daemon.ended('p_end')).toMatchObject({ state: 'lost', evidence: 'keeper_lost' })
})

test('input that a keeper had in its hands when it died is swept up by the next', async () => {
  await using temp = new TempKeeper()
  await temp.startKeeper()
  await temp.killKeeper()
  writeFileSync(join(temp.home.fifos, 'p_secret.in'), 'secret')
  await temp.startKeeper()
  expect(readdirSync(temp.home.fifos).filter((name) => name.endsWith('.in'))).toEqual([])
})

async function endAll(daemon: Daemon, pids: string[]): Promise<void> {
  for (const pid of pids) await daemon.ask('end', { pid, signal: 'SIGKILL', graceMs: 1 })
}

function isOver(state: Awaited<ReturnType<Daemon['spawn']>>): boolean {
  if (state.state !== 'running') throw new Error(`${state.pid} is ${state.state}`)
  return startTimeOf(state.program.osPid) !== state.program.startTime
}

function osPidOf(state: Awaited<ReturnType<Daemon['spawn']>>): number {
  return state.state === 'running' ? state.program.osPid : 0
}

function changeBoot(path: string): void {
  const content = JSON.parse(readFileSync(path, 'utf8')) as { boot: string }
  writeFileSync(path, JSON.stringify({ ...content, boot: '00000000-0000-0000-0000-000000000000' }))
}

function removeProgramFile(temp: TempKeeper, pid: string): void {
  const path = join(temp.home.live, `${pid}.program`)
  readFileSync(path)
  rmSync(path)
}
