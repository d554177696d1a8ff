import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Embedded, embed } from 'reeve'
import { describe, expect, onTestFinished, test } from 'vitest'
import { openPostgres } from '../../src/store/postgres/open.ts'
import { openSqlite } from '../../src/store/sqlite/open.ts'
import { assertSound } from '../../src/testing/conformance/sound.ts'
import { osProcess, signalOne } from '../command/os-processes.ts'
import { tempFolder } from '../temp-folder.ts'
import { NEW_STORES } from './new-stores.ts'
import { startProgram } from './program.ts'

const COUNT = 3
const PATIENCE = { timeout: 90_000, interval: 100 }

async function spawnWork(boss: Embedded, recovery: 'rerunnable' | 'bound'): Promise<string[]> {
  const request = {
    kind: 'tool',
    spec: { tool: 'work' },
    recovery,
    eventTypes: { note: { schema: { type: 'string' } } },
  } as const
  const { processes } = await boss.spawnMany({ processes: Array.from({ length: COUNT }, () => request) })
  return processes.map(({ record }) => record.pid)
}

/** Each execution of a process: in which attempt, by which OS process. */
function executionsOf(log: string, pid: string): number[][] {
  return readFileSync(log, 'utf8')
    .split('\n')
    .map((line) => line.split(' '))
    .filter(([of]) => of === pid)
    .map(([, attempt, osPid]) => [Number(attempt), Number(osPid)])
}

async function kernelOf(boss: Embedded, osPid: number) {
  const { holders } = await boss.holders({})
  return holders.find((holder) => holder.role === 'kernel' && holder.osPid === osPid)
}

describe.each(NEW_STORES)('%s', (_, newStore) => {
  test('a stopped program that is removed writes nothing when it goes on, and works under another id', {
    timeout: 240_000,
  }, async () => {
    const store = await newStore()
    const log = join(tempFolder(), 'executions')
    writeFileSync(log, '')
    const boss = await embed({ store })
    onTestFinished(() => boss.close())
    const victim = await startProgram('late-writer', [store, log])
    const again = await spawnWork(boss, 'rerunnable')
    const bound = await spawnWork(boss, 'bound')
    const all = [...again, ...bound]
    for (const pid of all) await victim.says('begun', (line) => line['begun'] === pid)

    signalOne(osProcess(victim.osPid), 'SIGSTOP')
    await expect.poll(async () => (await kernelOf(boss, victim.osPid))?.state, PATIENCE).toBe('silent')
    const frozen = await kernelOf(boss, victim.osPid)
    expect(new Set(frozen?.holds)).toEqual(new Set(all))
    // Its OS process is alive, so no kernel takes over its processes.
    const heir = await startProgram('late-writer', [store, log])
    expect((await boss.recover({})).checked).toEqual([])

    const id = String(frozen?.id)
    const report = await boss.removeHolder({ id })
    expect([report.rerun.toSorted(), report.abandoned.toSorted()]).toEqual([
      again.toSorted(),
      bound.toSorted(),
    ])
    for (const pid of again)
      await heir.says('begun', (line) => line['begun'] === pid && line['attempt'] === 2)
    const before = await Promise.all(all.map((pid) => boss.show({ pid })))

    victim.tell('go')
    signalOne(osProcess(victim.osPid), 'SIGCONT')
    for (const pid of all) await victim.says('refused', (line) => line['refused'] === pid)
    await expect.poll(async () => (await kernelOf(boss, victim.osPid))?.state, PATIENCE).toBe('live')
    expect((await kernelOf(boss, victim.osPid))?.id).not.toBe(id)
    expect((await boss.holders({})).holders.map((holder) => holder.id)).not.toContain(id)
    expect(victim.said.filter((line) => 'wrote' in line)).toEqual([])
    expect(await Promise.all(all.map((pid) => boss.show({ pid })))).toEqual(before)
    for (const { outcome } of before.slice(COUNT))
      expect([outcome?.status, outcome?.evidence]).toEqual(['abandoned', 'holder_dead'])
    for (const pid of again)
      expect(executionsOf(log, pid)).toEqual([
        [1, victim.osPid],
        [2, heir.osPid],
      ])
    for (const pid of bound) expect(executionsOf(log, pid)).toEqual([[1, victim.osPid]])

    await heir.kill()
    const [fresh = ''] = await spawnWork(boss, 'bound')
    await expect
      .poll(async () => (await boss.show({ pid: fresh })).outcome?.status, PATIENCE)
      .toBe('completed')
    expect(executionsOf(log, fresh)).toEqual([[1, victim.osPid]])
    await victim.kill()
    await boss.close()
    const opened = await (store.startsWith('postgres') ? openPostgres(store) : openSqlite(store))
    await assertSound(opened)
    await opened.close()
  })
})
