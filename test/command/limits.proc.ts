import { expect, test } from 'vitest'
import { until } from '../keeper/client.ts'
import { codeOf, ended, printed, runs, start, TempReeve, textOf } from './commands.ts'
import { stateOf } from './os-processes.ts'

const MiB = 1024 * 1024
const SLEEPER = { argv: ['sleep', '1000'] as [string, ...string[]] }
/** Holds 200 MiB for as long as it is let. */
const HUNGRY = [
  process.execPath,
  '-e',
  'const held = []; for (let i = 0; i < 20; i++) held.push(Buffer.alloc(10 * 1024 * 1024, 1)); console.log("fed"); setInterval(() => held.length, 1000)',
]

test('a command that runs longer than it may is ended, and that is why', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  const { outcome } = await runs(reeve, { run: 'echo x; exec sleep 1000', timeoutMs: 300 })
  expect(outcome).toMatchObject({ status: 'failed', reason: 'timeout', signal: 'SIGTERM', source: null })
  expect(temp.programs()).toEqual([])
})

test('a command that prints nothing for longer than it may is ended, and output keeps it alive', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  const quiet = await runs(reeve, { run: 'echo x; sleep 1000', idleTimeoutMs: 300 })
  expect(quiet.outcome).toMatchObject({ status: 'failed', reason: 'idle' })
  const busy = await runs(reeve, {
    run: 'for i in 1 2 3 4 5 6 7 8 9 10 11 12; do echo $i; sleep 0.2; done',
    idleTimeoutMs: 10_000,
  })
  expect(busy.outcome).toMatchObject({ status: 'completed', exitCode: 0 })
})

test('a timeout that is not heeded is forced after the grace', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  const { outcome } = await runs(reeve, {
    run: "trap '' TERM; while :; do sleep 0.05; done",
    // Long enough for a busy machine to set the trap.
    timeoutMs: 3_000,
    graceMs: 200,
  })
  expect(outcome).toMatchObject({ status: 'failed', reason: 'timeout', signal: 'SIGKILL' })
})

test.each(['auto', 'marker'] as const)(
  'with tree: %s, a command that takes more memory than it may is ended',
  async (tree) => {
    await using temp = new TempReeve()
    const reeve = await temp.embed({ tree })
    const { pid, program } = await start(reeve, {
      argv: HUNGRY as [string, ...string[]],
      limits: { memoryBytes: 100 * MiB },
    })
    expect(program?.memoryBy).toMatch(tree === 'marker' ? /^sampled$/ : /^(cgroup|sampled)$/)
    expect((await ended(reeve, pid)).outcome).toMatchObject({
      status: 'cancelled',
      reason: 'limit:memoryBytes',
    })
    const fits = await start(reeve, {
      argv: HUNGRY as [string, ...string[]],
      limits: { memoryBytes: 1024 * MiB },
    })
    await printed(reeve, fits.pid, 'fed')
  },
)

test.each(['auto', 'marker'] as const)(
  'with tree: %s, a command that takes more CPU time than it may is ended',
  async (tree) => {
    await using temp = new TempReeve()
    const reeve = await temp.embed({ tree })
    const { outcome } = await runs(reeve, { run: 'sh -c "while :; do :; done"', limits: { cpuSeconds: 0.5 } })
    expect(outcome).toMatchObject({ status: 'cancelled', reason: 'limit:cpuSeconds' })
  },
)

test('a limit of open files holds for the program and its descendants', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  const { text } = await runs(reeve, { run: 'ulimit -n; sh -c "ulimit -n"', limits: { openFiles: 50 } })
  expect(text).toBe('50\n50\n')
  const { text: inTerminal } = await runs(reeve, { run: 'ulimit -n', limits: { openFiles: 50 }, pty: true })
  expect(inTerminal).toBe('50\r\n')
})

test('the usage of a command is measured, also after its end', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  const { pid } = await start(reeve, {
    run: 'i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; echo done; exec sleep 1000',
  })
  await printed(reeve, pid, 'done')
  const live = await reeve.usage({ pid })
  expect(live.cpuMs).toBeGreaterThan(10)
  expect(live.outputBytes).toBe(5)
  await reeve.kill({ pid })
  const after = await reeve.usage({ pid })
  expect(after.cpuMs).toBeGreaterThanOrEqual(live.cpuMs ?? 0)
  expect(after.outputBytes).toBe(5)
})

test('a paused command stops, goes on when it is resumed, and shows its state', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  const { pid, program } = await start(reeve, SLEEPER)
  const osPid = program?.osPid ?? 0
  expect(await codeOf(reeve.signal({ pid, signal: 'resume' }))).toBe('not_paused')
  expect((await reeve.signal({ pid, signal: 'pause' })).record.status).toBe('paused')
  await until('it stands still', () => stateOf(osPid) === 'T')
  expect((await reeve.signal({ pid, signal: 'pause' })).type).toBe('unchanged')
  expect((await reeve.signal({ pid, signal: 'resume' })).record.status).toBe('running')
  await until('it goes on', () => stateOf(osPid) === 'S')
  const types = (await reeve.events({ pid })).events.map(({ type }) => type)
  expect(types.filter((type) => type === 'paused' || type === 'resumed')).toEqual(['paused', 'resumed'])
})

test('a command that was paused before its daemon was closed is still paused for the next, and can go on', async () => {
  await using temp = new TempReeve()
  const first = await temp.embed()
  const { pid, program } = await start(first, SLEEPER, { lifetime: 'detached' })
  const osPid = program?.osPid ?? 0
  await first.signal({ pid, signal: 'pause' })
  await until('it stands still', () => stateOf(osPid) === 'T')
  await first.close()
  const second = await temp.embed()
  expect((await second.show({ pid })).status).toBe('paused')
  expect(stateOf(osPid)).toBe('T')
  await second.signal({ pid, signal: 'resume' })
  await until('it goes on', () => stateOf(osPid) === 'S')
  expect((await second.kill({ pid })).record.outcome).toMatchObject({ reason: 'killed', signal: 'SIGTERM' })
})

test('a restart is a new process with the same name, and names its predecessor', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  const old = await start(reeve, 'echo "$WORD"; sleep 1000', { name: 'server', cwd: '/usr', label: 'serve' })
  const { record } = await reeve.restart({ pid: 'server' })
  expect(record.pid).not.toBe(old.pid)
  expect(record).toMatchObject({ name: 'server', restartOf: old.pid, cwd: '/usr', status: 'running' })
  expect([record.spec, record.identity.label]).toEqual([old.spec, 'serve'])
  expect((await reeve.show({ pid: old.pid })).outcome).toMatchObject({
    status: 'cancelled',
    reason: 'killed',
  })
  expect((await reeve.show({ pid: 'server' })).pid).toBe(record.pid)
  // An ended process can be restarted, too, and keeps its outcome.
  const over = await runs(reeve, 'echo once; exit 3')
  const again = await reeve.restart({ pid: over.pid })
  expect((await ended(reeve, again.record.pid)).outcome?.exitCode).toBe(3)
  expect(await textOf(reeve, again.record.pid)).toBe('once\n')
  expect((await reeve.show({ pid: over.pid })).outcome).toEqual(over.outcome)
})
