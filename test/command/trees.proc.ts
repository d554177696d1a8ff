import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Reeve } from 'reeve'
import { describe, expect, test } from 'vitest'
import { ownCgroups } from '../../src/os/own-cgroups.ts'
import { startTimeOf, until } from '../keeper/client.ts'
import { NEEDS_CGROUP, testIf } from '../reporting/test-if.ts'
import { codeOf, ended, printed, runs, start, TempReeve, textOf } from './commands.ts'
import { standsStill } from './os-processes.ts'

const TREE = ['sh', fileURLToPath(new URL('../fixtures/tree.sh', import.meta.url))]
const NAMES = ['away', 'deep', 'forked', 'middle', 'top']

/** Whether this machine lets us put a program into a cgroup of our own. */
const hasCgroups = await (async () => {
  const { unified } = ownCgroups()
  if (unified === null) return false
  const folder = join(unified, `reeve-test-${process.pid}`)
  const program = spawn('sleep', ['1000'], { stdio: 'ignore' })
  const gone = once(program, 'exit')
  try {
    mkdirSync(folder)
    writeFileSync(join(folder, 'cgroup.procs'), String(program.pid))
    return true
  } catch {
    // Not ours to divide.
    return false
  } finally {
    program.kill('SIGKILL')
    await gone
    await until('the cgroup is removed', () => {
      try {
        rmdirSync(folder)
        return true
      } catch (error) {
        return (error as NodeJS.ErrnoException).code === 'ENOENT'
      }
    })
  }
})()

/** PIDs by name, once all of them have said so. */
async function members(reeve: Reeve, pid: string): Promise<Map<string, number>> {
  return until('the whole tree is there', async () => {
    const found = [...(await textOf(reeve, pid)).matchAll(/^(\w+) (\d+)$/gm)]
    if (found.length !== NAMES.length) return null
    return new Map(found.map(([, name = '', osPid]) => [name, Number(osPid)]))
  })
}

describe.each(['auto', 'marker'] as const)('with tree: %s', (tree) => {
  const expected = tree === 'auto' && hasCgroups ? 'cgroup' : 'marker'

  test('a tree that ignores SIGTERM, left its session and forked twice has no survivors', async () => {
    await using temp = new TempReeve()
    const reeve = await temp.embed({ tree })
    const { pid, program } = await start(reeve, { argv: TREE })
    expect(program?.tree).toBe(expected)
    const tried = await members(reeve, pid)
    expect([...tried.keys()].sort()).toEqual(NAMES)
    const { type: answer, record } = await reeve.kill({ pid, graceMs: 300 })
    expect(answer).toBe('ended')
    expect(record.outcome).toMatchObject({
      status: 'cancelled',
      reason: 'killed',
      signal: 'SIGKILL',
      exitCode: null,
      source: 'host',
    })
    expect([...tried].filter(([, osPid]) => startTimeOf(osPid) !== '')).toEqual([])
    expect(temp.programs()).toEqual([])
  })

  test('a kill ends descendants that outlived their program', async () => {
    await using temp = new TempReeve()
    const reeve = await temp.embed({ tree })
    const { pid, outcome } = await runs(
      reeve,
      'setsid sh -c "trap \'\' TERM; while :; do sleep 0.1; done" & (sleep 1000 &) ; exit 4',
    )
    expect(outcome?.exitCode).toBe(4)
    await until('both are there', () => temp.programs(pid).length >= 2)
    expect((await reeve.kill({ pid })).type).toBe('already_ended')
    expect(temp.programs(pid)).toEqual([])
  })

  test('a kill also ends descendants that do not hold the output open', async () => {
    await using temp = new TempReeve()
    const reeve = await temp.embed({ tree })
    const { pid, outcome } = await runs(reeve, 'setsid sleep 1000 >/dev/null 2>&1 </dev/null & exit 4')
    expect(outcome?.exitCode).toBe(4)
    await until('it is there', () => temp.programs(pid).length === 1)
    expect((await reeve.kill({ pid })).type).toBe('already_ended')
    expect(temp.programs(pid)).toEqual([])
  })

  test('a paused tree stands still, goes on when it is resumed, and can be killed while it is paused', async () => {
    await using temp = new TempReeve()
    const reeve = await temp.embed({ tree })
    const { pid } = await start(reeve, { argv: TREE })
    const tried = await members(reeve, pid)
    const stopped = () => [...tried.values()].filter(standsStill).length
    const paused = await reeve.signal({ pid, signal: 'pause' })
    expect([paused.type, paused.record.status]).toEqual(['signalled', 'paused'])
    await until('all of it stands still', () => stopped() === tried.size)
    expect((await reeve.signal({ pid, signal: 'resume' })).record.status).toBe('running')
    await until('all of it goes on', () => stopped() === 0)
    await reeve.signal({ pid, signal: 'pause' })
    await until('all of it stands still again', () => stopped() === tried.size)
    expect((await reeve.kill({ pid, graceMs: 300 })).type).toBe('ended')
    expect([...tried].filter(([, osPid]) => startTimeOf(osPid) !== '')).toEqual([])
  })
})

testIf(hasCgroups, NEEDS_CGROUP)(
  'where there are cgroups even one that cleaned its environment does not escape',
  async () => {
    await using temp = new TempReeve()
    const reeve = await temp.embed()
    const { pid } = await start(reeve, 'env -i setsid sh -c \'echo "clean $$"; sleep 1000\' & sleep 1000')
    await printed(reeve, pid, 'clean')
    const osPid = Number(/clean (\d+)/.exec(await textOf(reeve, pid))?.[1])
    expect(startTimeOf(osPid)).not.toBe('')
    expect((await reeve.kill({ pid })).type).toBe('ended')
    expect(startTimeOf(osPid)).toBe('')
  },
)

test('a program that ends within its grace ends as it likes, and that is on record', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  const tidy = "trap 'echo bye; exit 5' TERM; echo ready; while :; do sleep 0.02; done"
  const { pid } = await start(reeve, tidy)
  await printed(reeve, pid, 'ready')
  const { type: answer, record } = await reeve.kill({ pid, graceMs: 20_000, reason: 'enough' })
  expect(answer).toBe('ended')
  expect(record.outcome).toMatchObject({
    status: 'cancelled',
    exitCode: 5,
    signal: null,
    reason: 'killed',
    source: 'host',
  })
  expect(await textOf(reeve, pid)).toMatch(/^ready\n(.*\n)?bye\n$/)
})

test('a shell that ends because its child was ended first has been ended all the same, thirty times', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  for (let times = 0; times < 30; times++) {
    const { pid } = await start(reeve, 'sleep 1000; exit 9')
    await until('its child is there', () => temp.programs(pid).length === 2)
    const { outcome } = (await reeve.kill({ pid })).record
    expect(outcome, `the time after ${times}`).toMatchObject({ status: 'cancelled', reason: 'killed' })
  }
})

test('a grace of 0 never forces: it was asked, and goes on', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  const { pid } = await start(reeve, "trap 'echo no' TERM; echo ready; while :; do sleep 0.02; done")
  await printed(reeve, pid, 'ready')
  const { type: answer, record } = await reeve.kill({ pid, graceMs: 0 })
  expect([answer, record.status, record.outcome]).toEqual(['asked', 'stopping', null])
  await printed(reeve, pid, 'no')
  expect(temp.programs(pid)).not.toEqual([])
  const forced = await reeve.kill({ pid, graceMs: 100 })
  expect([forced.type, forced.record.outcome?.signal]).toEqual(['ended', 'SIGKILL'])
})

test('the signal that asks a command to end is the one its spec names', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  const { pid } = await start(reeve, {
    run: "trap 'echo quit; exit 6' QUIT; trap '' TERM; echo ready; while :; do sleep 0.02; done",
    endSignal: 'SIGQUIT',
    graceMs: 20_000,
  })
  await printed(reeve, pid, 'ready')
  expect((await reeve.kill({ pid })).record.outcome).toMatchObject({ exitCode: 6, reason: 'killed' })
})

test('two kills at once end one process once, and agree', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  const { pid } = await start(reeve, { argv: TREE })
  await members(reeve, pid)
  const [one, two] = await Promise.all([
    reeve.kill({ pid, graceMs: 20_000 }),
    reeve.kill({ pid, graceMs: 100 }),
  ])
  expect(one.record.outcome).toEqual(two.record.outcome)
  const { events } = await reeve.events({ pid })
  expect(events.filter(({ type }) => type === 'ended')).toHaveLength(1)
})

test('kill all ends the processes that a filter selects, counts them, and leaves the others', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  const some = [
    await start(reeve, 'sleep 1000', { label: 'a' }),
    await start(reeve, 'sleep 1001', { label: 'a' }),
  ]
  const other = await start(reeve, 'sleep 1002', { label: 'b' })
  const report = await reeve.killAll({ filter: { label: 'a' } })
  expect({ ...report, signalled: [...report.signalled].sort() }).toEqual({
    matched: 2,
    asked: [],
    alreadyEnded: [],
    stale: [],
    unrecorded: [],
    failed: [],
    signalled: some.map(({ pid }) => pid).sort(),
  })
  for (const { pid } of some) expect((await ended(reeve, pid)).outcome?.reason).toBe('killed')
  expect((await reeve.show({ pid: other.pid })).status).toBe('running')
  expect(await reeve.killAll()).toMatchObject({ matched: 1, signalled: [other.pid] })
  expect(await reeve.killAll()).toMatchObject({ matched: 0 })
})

test('an OS signal reaches the program, or its whole group, as it is', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  const { pid } = await start(
    reeve,
    "trap 'echo outer' USR1; sh -c \"trap 'echo inner' USR1; echo ready; while :; do sleep 0.02; done\" & while :; do wait; done",
  )
  await printed(reeve, pid, 'ready')
  expect((await reeve.signal({ pid, signal: 'SIGUSR1' })).type).toBe('signalled')
  await printed(reeve, pid, 'outer')
  expect(await textOf(reeve, pid)).not.toContain('inner')
  await reeve.signal({ pid, signal: 'SIGUSR1', to: 'group' })
  await printed(reeve, pid, 'inner')
  await reeve.signal({ pid, signal: 'SIGKILL', to: 'group' })
  // Reeve was not asked for its end: it was a signal like any other.
  expect((await ended(reeve, pid)).outcome).toMatchObject({
    status: 'failed',
    signal: 'SIGKILL',
    exitCode: null,
    reason: null,
    source: null,
  })
  expect(await codeOf(reeve.signal({ pid, signal: 'SIGUSR1' }))).toBe('already_ended')
})
