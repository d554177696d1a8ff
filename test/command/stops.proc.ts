import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import type { Reeve } from 'reeve'
import { expect, test } from 'vitest'
import { until } from '../keeper/client.ts'
import { codeOf, ended, printed, runs, start, TempReeve } from './commands.ts'

const STUBBORN = "trap '' TERM; while :; do sleep 0.02; done"

/** A command that has ended, and has left behind a program that does not mind SIGTERM. */
async function leaves(temp: TempReeve, reeve: Reeve, spec: object = {}, traps = ''): Promise<string> {
  const READY = join(temp.folder, randomUUID())
  const SCRIPT = `trap '' TERM; ${traps} : > "$READY"; while :; do sleep 0.02; done`
  const run = 'sh -c "$SCRIPT" >/dev/null 2>&1 & while [ ! -e "$READY" ]; do sleep 0.02; done; exit 0'
  const { pid } = await runs(reeve, { run, env: { SCRIPT, READY }, ...spec })
  expect(temp.programs(pid)).not.toEqual([])
  return pid
}

test('descendants of an ended command are forced after the grace of the call, not of the settings', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed({ graceMs: 0 })
  const pid = await leaves(temp, reeve)
  expect((await reeve.kill({ pid, graceMs: 50 })).type).toBe('already_ended')
  expect(temp.programs(pid)).toEqual([])
})

test('descendants left behind by a command get the signal and the grace of its spec', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed({ graceMs: 60_000 })
  const asked = await leaves(temp, reeve, { endSignal: 'SIGUSR1' }, "trap 'exit' USR1;")
  expect((await reeve.kill({ pid: asked })).type).toBe('already_ended')
  expect(temp.programs(asked)).toEqual([])
  const forced = await leaves(temp, reeve, { graceMs: 50 })
  expect((await reeve.kill({ pid: forced })).type).toBe('already_ended')
  expect(temp.programs(forced)).toEqual([])
})

test('without force, a kill of descendants left behind sends the signal, and is answered', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed({ graceMs: 0 })
  const pid = await leaves(temp, reeve)
  const { type: answer, record } = await reeve.kill({ pid })
  expect([answer, record.status]).toEqual(['asked', 'completed'])
  expect(temp.programs(pid)).not.toEqual([])
  expect(await reeve.killAll({ filter: { status: 'any' }, graceMs: 0 })).toMatchObject({
    asked: [pid],
    stale: [],
    signalled: [],
    failed: [],
  })
  await reeve.kill({ pid, graceMs: 50 })
})

test('a kill whose grace is long answers ended when the whole tree is gone, and not before', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  const { pid } = await start(reeve, { run: `sh -c "echo ready; ${STUBBORN}" & wait`, graceMs: 9_000 })
  await printed(reeve, pid, 'ready')
  const killing = reeve.kill({ pid })
  expect((await ended(reeve, pid)).status).toBe('cancelled')
  expect((await killing).type).toBe('ended')
  expect(temp.programs(pid)).toEqual([])
})

test('a kill without force answers asked while a descendant lives, even if the program has ended', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  const { pid } = await start(reeve, { run: `sh -c "echo ready; ${STUBBORN}" & wait`, graceMs: 0 })
  await printed(reeve, pid, 'ready')
  expect((await reeve.kill({ pid })).type).toBe('asked')
  expect(temp.programs(pid)).not.toEqual([])
  await reeve.kill({ pid, graceMs: 50 })
})

test('a restart starts no second one beside a first that was only asked to end', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  const { pid } = await start(reeve, { run: `echo ready; ${STUBBORN}`, graceMs: 0 }, { name: 'service' })
  await printed(reeve, pid, 'ready')
  expect(await codeOf(reeve.restart({ pid: 'service' }))).toBe('stopping')
  const { processes } = await reeve.list({ filter: { status: 'any' } })
  expect(processes.map(({ record }) => [record.pid, record.status])).toEqual([[pid, 'stopping']])
  const { record } = await reeve.restart({ pid: 'service', graceMs: 50 })
  expect([record.restartOf, record.status]).toEqual([pid, 'running'])
  expect(temp.programs(pid)).toEqual([])
})

test('a command that cannot be killed, because its keeper goes away, does not prevent the kill of others', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  const { pid: before } = await runs(reeve, 'true')
  const { pid } = await start(reeve, { argv: ['sleep', '1000'] })
  process.kill(temp.keeper().osPid, 'SIGSTOP')
  const killing = reeve.killAll({ filter: { status: 'any' }, graceMs: 5_000 })
  await until('it is asked to end', async () => (await reeve.show({ pid })).status === 'stopping')
  await temp.killKeeper()
  const report = await killing
  expect(report).toMatchObject({
    matched: 2,
    signalled: [pid],
    failed: [{ pid: before, code: 'outcome_unknown' }],
  })
})

test('a kill of all ends a command at once that 400 externals were registered before', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed({ graceMs: 30_000 })
  const externals = Array.from(
    { length: 400 },
    () => ({ kind: 'external', spec: { description: 'x' } }) as const,
  )
  const { processes } = await reeve.spawnMany({ processes: externals })
  const { pid } = await start(reeve, { run: 'echo ready; sleep 600' })
  await printed(reeve, pid, 'ready')
  const killing = reeve.killAll({})
  const waited = await reeve.wait({ pid, timeoutMs: 60_000 })
  expect(waited.type).toBe('ended')
  const report = await killing
  expect(report).toMatchObject({ matched: 401, signalled: [pid], failed: [], alreadyEnded: [], stale: [] })
  expect(report.asked).toEqual(processes.map(({ record }) => record.pid))
  for (const external of report.asked) await reeve.end({ pid: external, status: 'cancelled', replayKey: 'e' })
}, 120_000)

test('an interrupt of a wide scope asks its commands before everything else', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  await reeve.openSession({ session: 's1' })
  const owner = { session: 's1' }
  const externals = Array.from(
    { length: 250 },
    () => ({ kind: 'external', spec: { description: 'x' }, owner }) as const,
  )
  await reeve.spawnMany({ processes: externals })
  const { pid } = await start(reeve, { run: 'echo ready; sleep 600' }, { owner })
  await printed(reeve, pid, 'ready')
  const report = await reeve.interrupt({ scope: owner })
  expect(report.matched).toBe(251)
  expect((await ended(reeve, pid)).status).toBe('cancelled')
  const { events } = await reeve.changes({ limit: 1_000, filter: { status: 'any' } })
  const stops = events.filter(({ type }) => type === 'stop_requested')
  expect(stops[0]?.pid).toBe(pid)
}, 60_000)
