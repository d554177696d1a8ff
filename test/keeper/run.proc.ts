import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { decodeEntry, ENTRY_BYTES, type IndexEntry } from '../../src/output-log/log-format.ts'
import { NEEDS_USER_NAMESPACE } from '../reporting/test-if.ts'
import { exitOf, keeperWithDaemon, startTimeOf, TempKeeper, until } from './client.ts'

test('a program that exits with 7 is seen to do so, with all it wrote', async () => {
  const { temp, daemon } = await keeperWithDaemon()
  await using _ = temp

  const started = await daemon.sh('p_seven', 'echo one; echo two >&2; exit 7')
  expect(started).toMatchObject({ state: 'running', pid: 'p_seven', orphaned: false, paused: false })
  expect(await daemon.exit('p_seven')).toMatchObject({
    exitCode: 7,
    signal: null,
    because: null,
    outputEnd: 8,
  })
  expect(temp.output('p_seven').text).toBe('one\ntwo\n')
})

test('scripts may write to /dev/stderr and through tee', async () => {
  const { temp, daemon } = await keeperWithDaemon()
  await using _ = temp

  await daemon.sh('p_err', 'echo x > /dev/stderr; echo y | tee /dev/stderr; echo z')
  expect((await daemon.exit('p_err')).exitCode).toBe(0)
  expect(temp.output('p_err').text).toBe('x\ny\ny\nz\n')
})

test('a program ends at once with its own code although a descendant holds its output, and that one can be ended', async () => {
  const { temp, daemon } = await keeperWithDaemon()
  await using _ = temp

  await daemon.sh('p_left', 'sh -c "echo \\$\\$; exec sleep 300" & wait -n 2>/dev/null & echo x; exit 3')
  const exit = await daemon.exit('p_left')
  expect(exit).toMatchObject({ exitCode: 3, because: null })
  expect(await daemon.ask('end', { pid: 'p_left', signal: 'SIGTERM', graceMs: 60_000 })).toEqual({
    how: 'asked',
  })
  const sleeper = Number(/^\d+$/m.exec(temp.output('p_left').text)?.[0])
  expect(startTimeOf(sleeper)).toBe('')
})

test('output of descendants after the end lies behind the end of the output, also once it is acknowledged', async () => {
  const { temp, daemon } = await keeperWithDaemon()
  await using _ = temp
  const go = join(temp.folder, 'go')

  await daemon.sh('p_late', `(while [ ! -e ${go} ]; do sleep 0.02; done; echo late) & echo early`)
  const exit = await daemon.exit('p_late')
  expect(exit).toMatchObject({ exitCode: 0, outputEnd: 6 })
  await daemon.ask('acknowledge', { pid: 'p_late' })
  expect(await daemon.ask('state', { pid: 'p_late' })).toBeNull()
  writeFileSync(go, '')
  await until('the late line is in the log', () => temp.output('p_late').text === 'early\nlate\n')
})

for (const output of ['merged', 'direct'] as const)
  test(`output of descendants after the log (${output}) was deleted is discarded, and blocks none of them`, async () => {
    const { temp, daemon } = await keeperWithDaemon()
    await using _ = temp
    const [go, done] = [join(temp.folder, 'go'), join(temp.folder, 'done')]
    const caps = { headBytes: 1000, tailBytes: 20_000, segmentBytes: 10_000, minFreeBytes: 1000 }

    const writes = `head -c 9000000 /dev/zero; echo $? > ${done}`
    await daemon.sh('p_dropped', `(while [ ! -e ${go} ]; do sleep 0.01; done; ${writes}) & echo x`, {
      caps,
      output,
    })
    await daemon.exit('p_dropped')
    await daemon.ask('acknowledge', { pid: 'p_dropped' })
    rmSync(join(temp.home.output, 'p_dropped'), { recursive: true })
    writeFileSync(go, '')
    await until('all is written', () => existsSync(done))
    await daemon.ask('leave', {})
    daemon.close()
    expect(await exitOf(temp.keeper)).toBe(0)
    expect(daemon.tells.filter(({ tell }) => tell === 'trouble')).toEqual([])
    expect(temp.keeperLog()).not.toMatch(/Went on after|can't/)
  })

test('a program whose output is deleted while it runs goes on, and the loss is reported as trouble', async () => {
  const { temp, daemon } = await keeperWithDaemon()
  await using _ = temp
  const caps = { headBytes: 0, tailBytes: 20_000, segmentBytes: 10_000, minFreeBytes: 1000 }

  await daemon.sh('p_deleted', 'echo x; read go; head -c 300000 /dev/zero; exit 5', { caps, stdin: 'pipe' })
  await until('it has written', () => temp.output('p_deleted').text === 'x\n')
  rmSync(join(temp.home.output, 'p_deleted'), { recursive: true })
  await daemon.write('p_deleted', 'go\n')
  expect(await daemon.exit('p_deleted')).toMatchObject({ exitCode: 5, outputEnd: 300_002 })
  const told = daemon.tells.filter(({ tell }) => tell === 'trouble')
  expect(told).toMatchObject([{ pid: 'p_deleted', message: expect.stringContaining('was deleted') }])
})

test('a tagged log keeps the streams apart', async () => {
  const { temp, daemon } = await keeperWithDaemon()
  await using _ = temp

  await daemon.sh('p_tag', 'echo one; sleep 0.1; echo two >&2; sleep 0.1; echo three', { output: 'tagged' })
  await daemon.exit('p_tag')
  expect(temp.output('p_tag').text).toBe('one\ntwo\nthree\n')
  const entries = indexOf(temp, 'p_tag').map(({ offset, sort }) => [offset, sort])
  expect(entries).toEqual([
    [0, 'stdout'],
    [4, 'stderr'],
    [8, 'stdout'],
  ])
})

test('a program that writes its log by itself keeps head and tail, and the hole is listed', async () => {
  const { temp, daemon } = await keeperWithDaemon()
  await using _ = temp
  const caps = { headBytes: 8192, tailBytes: 65_536, segmentBytes: 65_536, minFreeBytes: 0 }

  await daemon.sh('p_direct', 'head -c 3000000 /dev/zero | tr "\\0" a; sleep 0.3; echo; echo end', {
    output: 'direct',
    caps,
  })
  expect(await daemon.exit('p_direct')).toMatchObject({ exitCode: 0, outputEnd: 3_000_005 })
  const folder = join(temp.home.output, 'p_direct')
  const text = readFileSync(join(folder, '000000000000000'), 'latin1')
  const [from, to] = readFileSync(join(folder, 'holes'), 'utf8').trim().split(' ').map(Number)
  expect(text.slice(0, 8192)).toBe('a'.repeat(8192))
  expect(from).toBe(8192)
  expect(text.slice(to)).toBe(`${'a'.repeat(3_000_000 - to!)}\nend\n`)
  expect(3_000_005 - to!).toBeGreaterThanOrEqual(65_536)
  expect(3_000_005 - to!).toBeLessThan(65_536 * 3)
})

test('the middle of a long log falls out, and never more than head, tail and one segment are on disk', async () => {
  const { temp, daemon } = await keeperWithDaemon()
  await using _ = temp
  const caps = { headBytes: 10_000, tailBytes: 200_000, segmentBytes: 50_000, minFreeBytes: 0 }

  await daemon.sh(
    'p_flood',
    'i=0; while [ $i -lt 40 ]; do head -c 1000000 /dev/zero | tr "\\0" a; i=$((i+1)); done; echo end',
    {
      caps,
    },
  )
  let most = 0
  let isOver = false
  const over = daemon.exit('p_flood').finally(() => {
    isOver = true
  })
  const keeper = temp.keeper.pid!
  while (!isOver) {
    // The files must not change while they are counted.
    process.kill(keeper, 'SIGSTOP')
    await until('the keeper is stopped', () => readFileSync(`/proc/${keeper}/stat`, 'utf8').includes(') T '))
    most = Math.max(most, bytesIn(join(temp.home.output, 'p_flood')))
    process.kill(keeper, 'SIGCONT')
    await new Promise((resolve) => setImmediate(resolve))
  }
  expect(await over).toMatchObject({ exitCode: 0, outputEnd: 40_000_004 })
  const { text, gaps, bytesOnDisk } = temp.output('p_flood')
  expect(text.endsWith('a\nend\n') || text.endsWith('aend\n')).toBe(true)
  expect(bytesOnDisk).toBeLessThanOrEqual(260_000)
  expect(most).toBeLessThanOrEqual(260_000)
  expect(gaps).toEqual([[10_000, 40_000_004 - (bytesOnDisk - 10_000)]])
})

test('times of a log are in its index, from its first byte on', async () => {
  const { temp, daemon } = await keeperWithDaemon()
  await using _ = temp

  const before = Date.now()
  await daemon.sh('p_time', 'echo a; read go; echo b', { stdin: 'pipe' })
  const first = await until('the first byte has its time', () => indexOf(temp, 'p_time')[0])
  expect(first.offset).toBe(0)
  expect(first.value).toBeGreaterThanOrEqual(before)
  // There is one for each second at most.
  await until('a second has passed since', () => Date.now() >= first.value + 1_500)
  await daemon.write('p_time', 'go\n')
  await daemon.exit('p_time')
  const [, second, ...more] = indexOf(temp, 'p_time')
  expect([second?.offset, more]).toEqual([2, []])
  expect(second!.value - first.value).toBeGreaterThanOrEqual(1000)
})

test('a failed start is reported, and stays known until it is acknowledged', async () => {
  const { temp, daemon } = await keeperWithDaemon()
  await using _ = temp
  const folder = join(temp.folder, 'things')
  mkdirSync(folder)
  writeFileSync(join(folder, 'plain'), 'text', { mode: 0o644 })
  writeFileSync(join(folder, 'lost'), '#!/no/such/interpreter\n', { mode: 0o755 })
  const limits = { memoryBytes: null, cpuSeconds: null, openFiles: null, outputBytes: null }

  const failures: [string, Parameters<typeof daemon.spawn>[1], RegExp][] = [
    ['p_f1', { argv: ['no-such-program-here'] }, /no program no-such-program-here in PATH/],
    ['p_folder', { argv: ['/tmp'] }, /\/tmp is a folder/],
    ['p_line', { argv: ['ls -la'] }, /no program ls -la in PATH/],
    ['p_f2', { argv: ['./plain'], cwd: folder }, /no executable file/],
    ['p_f3', { argv: ['true'], cwd: join(folder, 'missing') }, /There is no folder/],
    ['p_f4', { argv: ['true'], cwd: join(folder, 'plain') }, /not a folder/],
    ['p_f5', { argv: [] }, /no program in argv/],
    ['p_f6', { argv: ['true'], endSignal: 'SIGNOPE' }, /no signal SIGNOPE/],
    ['p_f7', { argv: ['true'], limits: { ...limits, openFiles: 2 ** 40 } }, /openFiles/],
    ['p_f8', { argv: ['true'], limits: { ...limits, memoryBytes: -1 } }, /memoryBytes is -1/],
    ['p_f9', { argv: ['true', 'x'.repeat(3_000_000)] }, /can't be started/],
    ['p_f11', { argv: ['x'.repeat(1_000_000)] }, /^There is no program x{1000,4000} …$/],
    ['p_f10', { argv: ['./lost'], cwd: folder }, /can't be started/],
    ['p_f12', { argv: ['true'], pty: { cols: 0, rows: 4 } }, /0 × 4/],
    ['p_f13', { argv: ['true', 'a\0b'] }, /zero byte/],
    ['p_f14', { argv: ['./lost'], cwd: folder, pty: { cols: 80, rows: 24 } }, /interpreter/],
    ['p_f15', { argv: ['./lost'], cwd: folder, limits: { ...limits, openFiles: 64 } }, /interpreter/],
  ]
  for (const [pid, plan, message] of failures) {
    const state = await daemon.spawn(pid, plan)
    expect(state).toMatchObject({ state: 'failed_start', pid })
    if (state.state !== 'failed_start') continue
    expect(state.message).toMatch(message)
    expect(state.remedy).not.toBe('')
    expect(await daemon.ask('state', { pid })).toEqual(state)
    expect(await daemon.spawn(pid, { argv: ['true'] })).toEqual(state)
    await daemon.ask('acknowledge', { pid })
    expect(await daemon.ask('state', { pid })).toBeNull()
  }
  expect(readdirSync(temp.home.live)).toEqual([])
  expect(readdirSync(temp.home.output)).toEqual([])
  expect(readdirSync(temp.home.fifos).filter((name) => !name.startsWith('ready'))).toEqual([])
})

test('where the system watches no more files, a log that a program writes by itself is looked at instead', async (context) => {
  try {
    execFileSync('/usr/bin/unshare', ['-Ur', 'true'], { stdio: 'ignore' })
  } catch {
    return context.skip(NEEDS_USER_NAMESPACE)
  }
  await using temp = new TempKeeper()
  await temp.startKeeper(join(import.meta.dirname, 'without-inotify.ts'))
  const daemon = await temp.daemon()
  await daemon.sh('p_unwatched', 'echo one; sleep 1; echo two; exec sleep 300', { output: 'direct' })
  await daemon.ask('follow', { pid: 'p_unwatched', on: true })
  await until('growth is told', () => daemon.tells.some((tell) => tell.tell === 'grew' && tell.end === 8))
  expect(temp.keeperLog()).not.toContain('Went on after')
})

test('a program asked for twice runs once', async () => {
  const { temp, daemon } = await keeperWithDaemon()
  await using _ = temp
  const trace = join(temp.folder, 'trace')

  const script = `echo run >> ${trace}; exec sleep 300`
  const [one, other] = await Promise.all([daemon.sh('p_once', script), daemon.sh('p_once', script)])
  expect(other).toEqual(one)
  expect(await daemon.sh('p_once', script)).toEqual(one)
  await until('it has run', () => existsSync(trace) && readFileSync(trace, 'utf8') === 'run\n')
  await daemon.ask('end', { pid: 'p_once', signal: 'SIGKILL', graceMs: 1 })
  expect(await daemon.sh('p_once', script)).toMatchObject({ state: 'exited' })
  expect(readFileSync(trace, 'utf8')).toBe('run\n')
})

test('fifty programs leave no descriptor, file or OS process behind', async () => {
  const { temp, daemon } = await keeperWithDaemon()
  await using _ = temp
  const run = async (round: string) => {
    const pids = Array.from({ length: 25 }, (_, at) => `p_${round}_${at}`)
    await Promise.all(pids.map((pid) => daemon.sh(pid, 'cat; echo hello', { stdin: { text: 'hi\n' } })))
    const terminals = pids.map((pid) => `${pid}_t`)
    await Promise.all(terminals.map((pid) => daemon.sh(pid, 'echo hello', { pty: { cols: 80, rows: 24 } })))
    for (const pid of [...pids, ...terminals]) {
      expect((await daemon.exit(pid)).exitCode).toBe(0)
      await daemon.ask('acknowledge', { pid })
    }
  }
  const descriptors = () => readdirSync(`/proc/${temp.keeper.pid}/fd`).length
  await run('warm')
  await until('the first are closed', async () => (await daemon.ask('state', { pid: 'p_none' })) === null)
  const before = descriptors()
  await run('next')
  await until('as many descriptors are open as before', () => descriptors() <= before)
  expect(readdirSync(temp.home.live)).toEqual([])
  expect(readdirSync(temp.home.fifos).filter((name) => !name.startsWith('ready'))).toEqual([])
  const children = readFileSync(`/proc/${temp.keeper.pid}/task/${temp.keeper.pid}/children`, 'utf8')
  expect(children.trim()).toBe('')
})

function indexOf(temp: TempKeeper, pid: string): IndexEntry[] {
  const path = join(temp.home.output, pid, 'index')
  const index = existsSync(path) ? readFileSync(path) : Buffer.alloc(0)
  return Array.from(
    { length: Math.floor(index.length / ENTRY_BYTES) },
    (_, at) => decodeEntry(index, at * ENTRY_BYTES)!,
  )
}

function bytesIn(folder: string): number {
  let bytes = 0
  for (const name of readdirSync(folder)) {
    if (/^\d{15}$/.test(name)) bytes += statSync(join(folder, name)).size
  }
  return bytes
}
