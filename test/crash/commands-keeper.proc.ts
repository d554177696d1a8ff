import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Reeve } from 'reeve'
import { expect, test } from 'vitest'
import { ended, printed, start, TempReeve, textOf } from '../command/commands.ts'
import { startDaemon } from '../command/daemon-program.ts'
import { endForCertain, osProcess, signalOne } from '../command/os-processes.ts'
import { until } from '../keeper/client.ts'
import { Random } from '../simulation/random.ts'
import { counting, expectWhole } from './counted.ts'

const unseen = {
  status: 'abandoned',
  exitCode: null,
  signal: null,
  evidence: 'keeper_lost',
}

/** The keeper that serves this daemon, once it is another one than before. */
function anotherKeeper(reeve: Reeve, temp: TempReeve, before: string): Promise<unknown> {
  return until('another keeper has taken over', async () => {
    const { keeper } = await reeve.status()
    return keeper?.available === true && keeper.id !== before && temp.keeper().id === keeper.id
  })
}

test('a command without terminal and piped input lives on when its keeper is killed, and loses nothing', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed({ output: { tailBytes: 256 * 1024 * 1024 } })
  const go = join(temp.folder, 'go')
  // Not in a flood: one that is killed with a piece in its hands takes that along.
  const slowly = { code: 3, pause: '0.2' }
  const merged = await start(reeve, counting(go, slowly))
  const tagged = await start(reeve, { run: counting(go, slowly), output: 'tagged' })
  const direct = await start(reeve, { run: counting(go, slowly), output: 'direct' })
  const all = [merged, tagged, direct]
  for (let times = 0; times < 4; times++) {
    const lengths = await Promise.all(all.map(async ({ pid }) => (await reeve.output({ pid, limit: 1 })).end))
    const former = await temp.killKeeper()
    await anotherKeeper(reeve, temp, former.id)
    for (const [index, { pid }] of all.entries())
      await until(
        'it prints on',
        async () => (await reeve.output({ pid, limit: 1 })).end > (lengths[index] ?? 0),
      )
  }
  for (const { pid } of all) {
    const record = await reeve.show({ pid })
    expect(record.status).toBe('running')
    const { events } = await reeve.events({ pid })
    expect(events.filter(({ type }) => type === 'taken_over')).toHaveLength(4)
  }
  writeFileSync(go, '')
  for (const { pid } of all) {
    expect((await ended(reeve, pid)).outcome).toMatchObject(unseen)
    expectWhole(await textOf(reeve, pid))
    const { events } = await reeve.events({ pid })
    expect(events.filter(({ type }) => type === 'ended')).toHaveLength(1)
  }
})

test('output of a program that ends before the next keeper starts is in the log', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  const go = join(temp.folder, 'go')
  const { pid, program } = await start(
    reeve,
    `echo before; while [ ! -e ${go} ]; do sleep 0.005; done; echo after; echo last`,
  )
  await printed(reeve, pid, 'before')
  signalOne(temp.keeper(), 'SIGKILL')
  writeFileSync(go, '')
  expect(program?.osPid).toBeGreaterThan(0)
  expect((await ended(reeve, pid)).outcome).toMatchObject(unseen)
  expect(await textOf(reeve, pid)).toBe('before\nafter\nlast\n')
})

test('a command that was taken over is read, watched, paused and ended like any other, its code is never made up', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  const { pid } = await start(
    reeve,
    "trap 'echo bye; exit 5' TERM; i=0; while :; do i=$((i+1)); echo $i; sleep 0.02; done",
  )
  await printed(reeve, pid, '3')
  const former = await temp.killKeeper()
  await anotherKeeper(reeve, temp, former.id)
  await printed(reeve, pid, '60')
  expect((await reeve.poll({ pid, cursor: 'o0' })).text).toMatch(/^1\n2\n3\n/)
  expect((await reeve.signal({ pid, signal: 'pause' })).record.status).toBe('paused')
  expect((await reeve.signal({ pid, signal: 'resume' })).record.status).toBe('running')
  const { type: answer, record } = await reeve.kill({ pid, graceMs: 20_000 })
  expect(answer).toBe('ended')
  expect(record.outcome).toMatchObject(unseen)
  expect(await textOf(reeve, pid)).toContain('bye\n')
  expect(temp.programs()).toEqual([])
})

test('one with piped input sees its end, and a terminal program is ended for certain', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  const piped = await start(reeve, { run: 'cat; echo end of input', stdin: 'pipe' })
  const stubborn = await start(reeve, {
    run: "trap '' HUP TERM INT; echo ready; while :; do sleep 0.05; done",
    pty: true,
  })
  await reeve.submit({ pid: piped.pid, text: 'typed' })
  await printed(reeve, piped.pid, 'typed')
  await printed(reeve, stubborn.pid, 'ready')
  await temp.killKeeper()
  expect((await ended(reeve, piped.pid)).outcome).toMatchObject(unseen)
  expect(await textOf(reeve, piped.pid)).toBe('typed\nend of input\n')
  expect((await ended(reeve, stubborn.pid)).outcome).toMatchObject(unseen)
  expect(temp.programs()).toEqual([])
  // And it goes on as if nothing had been.
  expect((await ended(reeve, (await start(reeve, 'exit 3')).pid)).outcome).toMatchObject({ exitCode: 3 })
})

test('daemon and keeper killed together: the next daemon adopts live programs, and settles the ended ones', async () => {
  await using temp = new TempReeve()
  const daemon = await startDaemon(temp, { output: { tailBytes: 256 * 1024 * 1024 } })
  const go = join(temp.folder, 'go')
  const spawn = async (spec: object) =>
    (await daemon.call('spawn', { kind: 'command', spec: spec as { run: string } })).record.pid
  // Not in a flood, for the same reason.
  const counted = await spawn({ run: counting(go, { code: 3, pause: '0.1' }) })
  const gone = await spawn({ argv: ['sleep', '1000'] })
  const terminal = await spawn({ argv: ['sleep', '1000'], pty: true })
  await daemon.call('wait', { pid: counted, until: { text: 'line 5' } })
  // The daemon first: it would start another keeper.
  await daemon.kill()
  const former = await temp.killKeeper()
  for (const osPid of temp.programs(gone)) await endForCertain(osProcess(osPid))
  await until('it is gone', () => temp.programs(gone).length === 0)

  const reeve = await temp.embed({ output: { tailBytes: 256 * 1024 * 1024 } })
  expect(temp.keeper().id).not.toBe(former.id)
  const { boot } = await reeve.status()
  expect(boot.adopted).toEqual([counted])
  expect(boot.abandoned.toSorted()).toEqual([gone, terminal].toSorted())
  expect((await ended(reeve, gone)).outcome).toMatchObject(unseen)
  expect((await ended(reeve, terminal)).outcome).toMatchObject(unseen)
  expect((await reeve.show({ pid: counted })).status).toBe('running')
  const { end } = await reeve.output({ pid: counted, limit: 1 })
  await until('it prints on', async () => (await reeve.output({ pid: counted, limit: 1 })).end > end)
  void writeFileSync(go, '')
  expect((await ended(reeve, counted)).outcome).toMatchObject(unseen)
  expectWhole(await textOf(reeve, counted))
  expect((await reeve.events({ pid: counted })).events.map(({ type }) => type)).toContain('taken_over')
})

test('the boot report of a daemon whose keeper and commands were killed counts every one of them as abandoned', async () => {
  await using temp = new TempReeve()
  const daemon = await startDaemon(temp)
  const kinds = [
    {},
    { output: 'tagged' },
    { output: 'direct' },
    { stdin: 'pipe' },
    { pty: true },
    { pty: { cols: 100, rows: 30 } },
  ] as const
  const pids: string[] = []
  for (const spec of kinds)
    pids.push(
      (await daemon.call('spawn', { kind: 'command', spec: { argv: ['sleep', '1000'], ...spec } })).record
        .pid,
    )
  // The daemon first: it would start another keeper.
  await daemon.kill()
  await temp.killKeeper()
  for (const pid of pids) for (const osPid of temp.programs(pid)) await endForCertain(osProcess(osPid))
  await until('all of them are gone', () => temp.programs().length === 0)
  const reeve = await temp.embed()
  const { boot } = await reeve.status()
  expect({ ...boot, abandoned: boot.abandoned.toSorted() }).toMatchObject({
    adopted: [],
    completed: [],
    abandoned: pids.toSorted(),
  })
  for (const pid of pids) expect((await ended(reeve, pid)).outcome).toMatchObject(unseen)
})

test('a keeper that is killed amid spawns starts no program twice, and each process gets an outcome', async () => {
  const seed = 20_260_104
  const random = new Random(seed)
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  const ran = join(temp.folder, 'ran')
  writeFileSync(ran, '')
  const count = 120
  let begun = 0
  const spawning = Promise.all(
    Array.from({ length: count }, async (_, index) => {
      const { pid } = await start(reeve, `echo ${index} >> ${ran}; echo ran; exit 7`)
      begun += 1
      return { index, record: await ended(reeve, pid) }
    }),
  )
  for (let times = 0; times < 3; times++) {
    const from = begun
    const enough = from + random.between(5, 25)
    await until('some more have begun', () => begun >= Math.min(enough, count))
    const former = await temp.killKeeper()
    await anotherKeeper(reeve, temp, former.id)
  }
  const lines = (await spawning).map(({ index, record }) => ({
    index,
    outcome: record.outcome,
    pid: record.pid,
  }))
  const executed = readFileSync(ran, 'utf8').split('\n').filter(Boolean)
  expect(new Set(executed).size, `seed ${seed}`).toBe(executed.length)
  for (const { index, outcome, pid } of lines) {
    if (outcome?.status === 'abandoned') {
      expect(outcome).toMatchObject(unseen)
      continue
    }
    expect([outcome?.status, outcome?.exitCode], `${index}, seed ${seed}`).toEqual(['failed', 7])
    expect(executed).toContain(String(index))
    expect(await textOf(reeve, pid)).toBe('ran\n')
  }
  // The keepers observed more ends than they lost.
  expect(lines.filter(({ outcome }) => outcome?.status === 'failed').length).toBeGreaterThan(count / 2)
  expect(temp.programs()).toEqual([])
})

test('a command that is spawned while the keeper is away begins when there is another', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  await start(reeve, { argv: ['sleep', '1000'] })
  signalOne(temp.keeper(), 'SIGKILL')
  const { pid } = await start(reeve, 'echo here; exit 4')
  expect((await ended(reeve, pid)).outcome).toMatchObject({ status: 'failed', exitCode: 4 })
  expect(await textOf(reeve, pid)).toBe('here\n')
})
