import { writeFileSync } from 'node:fs'
import type { Lifetime, Reeve } from 'reeve'
import { expect, test } from 'vitest'
import { until } from '../keeper/client.ts'
import { ended, start, TempReeve } from './commands.ts'
import { startDaemon } from './daemon-program.ts'
import { isAlive } from './os-processes.ts'

const SLEEPER = { argv: ['sleep', '1000'] as [string, ...string[]] }
const owner = { session: 's', turn: 't' }

/** One command of each lifetime, and its pid by that name. */
async function oneOfEach(reeve: Reeve): Promise<Record<Lifetime, string>> {
  await reeve.openSession({ session: 's' })
  await reeve.openTurn(owner)
  const parent = (await start(reeve, SLEEPER, { lifetime: 'detached' })).pid
  const one = async (lifetime: Lifetime) => {
    const under = lifetime === 'parent' ? { parent } : {}
    return (await start(reeve, SLEEPER, { owner, lifetime, ...under })).pid
  }
  return {
    turn: await one('turn'),
    session: await one('session'),
    parent: await one('parent'),
    daemon: await one('daemon'),
    detached: parent,
  }
}

async function live(reeve: Reeve, pids: Record<Lifetime, string>): Promise<string[]> {
  const { processes } = await reeve.list()
  const running = new Set<string>(processes.map(({ record }) => record.pid))
  return Object.entries(pids).flatMap(([lifetime, pid]) => (running.has(pid) ? [lifetime] : []))
}

const byLifetime = { status: 'cancelled', reason: 'lifetime', source: expect.stringMatching(/^kernel:/) }

test('the end of a turn, a session or a parent ends the processes with that lifetime, and no others', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  const pids = await oneOfEach(reeve)
  await reeve.endTurn(owner)
  expect((await ended(reeve, pids.turn)).outcome).toMatchObject(byLifetime)
  expect(await live(reeve, pids)).toEqual(['session', 'parent', 'daemon', 'detached'])
  await reeve.endSession({ session: 's' })
  expect((await ended(reeve, pids.session)).outcome).toMatchObject(byLifetime)
  expect(await live(reeve, pids)).toEqual(['parent', 'daemon', 'detached'])
  await reeve.kill({ pid: pids.detached })
  // A kill goes down the tree by itself.
  expect((await ended(reeve, pids.parent)).outcome).toMatchObject({ ...byLifetime, reason: 'killed' })
  expect(await live(reeve, pids)).toEqual(['daemon'])
})

test('a parent that ends by itself ends the processes with its lifetime', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  const parent = await start(reeve, { argv: ['cat'], stdin: 'pipe' })
  const child = await start(reeve, 'sleep 1000', { parent: parent.pid })
  expect(child.lifetime).toBe('parent')
  await reeve.closeInput({ pid: parent.pid })
  expect((await ended(reeve, parent.pid)).outcome).toMatchObject({ status: 'completed' })
  expect((await ended(reeve, child.pid)).outcome).toMatchObject(byLifetime)
  expect(temp.programs()).toEqual([])
})

test('a closed daemon ends the commands with its lifetime; the others go on, and the next daemon has them', async () => {
  await using temp = new TempReeve()
  const first = await temp.embed()
  const pids = await oneOfEach(first)
  const keeper = temp.keeper().id
  await first.close()
  expect(temp.programs(pids.daemon)).toEqual([])
  for (const lifetime of ['turn', 'session', 'parent', 'detached'] as const)
    expect(temp.programs(pids[lifetime]), lifetime).toHaveLength(1)
  const second = await temp.embed()
  expect(temp.keeper().id).toBe(keeper)
  expect((await second.show({ pid: pids.daemon })).outcome).toMatchObject(byLifetime)
  expect(await live(second, pids)).toEqual(['turn', 'session', 'parent', 'detached'])
  const { boot } = await second.status()
  expect([...boot.adopted].sort()).toEqual([pids.turn, pids.session, pids.parent, pids.detached].sort())
  await second.endTurn(owner)
  expect((await ended(second, pids.turn)).outcome).toMatchObject(byLifetime)
})

test('a daemon that is closed with keep leaves everything as it is', async () => {
  await using temp = new TempReeve()
  const first = await temp.embed()
  const pids = await oneOfEach(first)
  await first.close({ keep: true })
  for (const pid of Object.values(pids)) expect(temp.programs(pid)).toHaveLength(1)
  const second = await temp.embed()
  expect(await live(second, pids)).toEqual(['turn', 'session', 'parent', 'daemon', 'detached'])
  for (const pid of Object.values(pids)) expect((await second.show({ pid })).status).toBe('running')
})

test('the next daemon knows a command that ended while no daemon ran, with its exit code and all its output', async () => {
  await using temp = new TempReeve()
  const first = await temp.embed()
  const go = `${temp.folder}/go`
  const { pid } = await start(
    first,
    `echo before; while [ ! -e ${go} ]; do sleep 0.02; done; echo after; exit 6`,
    { lifetime: 'detached' },
  )
  await first.wait({ pid, until: { text: 'before' } })
  await first.close()
  writeFileSync(go, '')
  const second = await temp.embed()
  expect((await ended(second, pid)).outcome).toMatchObject({ status: 'failed', exitCode: 6, evidence: null })
  expect((await second.log({ pid })).lines.map(({ text }) => text)).toEqual(['before', 'after'])
  const { events } = await second.events({ pid })
  expect(events.filter(({ type }) => type === 'ended')).toHaveLength(1)
})

test('a killed daemon ends no command of any lifetime', async () => {
  await using temp = new TempReeve()
  const daemon = await startDaemon(temp)
  const { record } = await daemon.call('spawn', { kind: 'command', spec: SLEEPER })
  expect(record.lifetime).toBe('daemon')
  await daemon.kill()
  const reeve = await temp.embed()
  expect((await reeve.show({ pid: record.pid })).status).toBe('running')
  expect(temp.programs(record.pid)).toHaveLength(1)
})

test('closing a daemon with nothing to keep lets its keeper go, and the next daemon starts another', async () => {
  await using temp = new TempReeve()
  const first = await temp.embed()
  const before = temp.keeper()
  await start(first, 'sleep 1000')
  await first.close()
  await until('the keeper is gone', () => !isAlive(before))
  const second = await temp.embed()
  expect(temp.keeper().id).not.toBe(before.id)
  expect((await second.status()).keeper).toMatchObject({ available: true, osPid: temp.keeper().osPid })
})
