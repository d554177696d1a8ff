import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { embed, type Reeve } from 'reeve'
import { describe, expect, test } from 'vitest'
import { openPostgres } from '../../src/store/postgres/open.ts'
import { openSqlite } from '../../src/store/sqlite/open.ts'
import { assertSound } from '../../src/testing/conformance/sound.ts'
import { tempFolder } from '../temp-folder.ts'
import { NEW_STORES } from './new-stores.ts'
import { startProgram } from './program.ts'

const tool = (name: string, recovery: 'rerunnable' | 'bound') =>
  ({ kind: 'tool', spec: { tool: name }, recovery }) as const

/** Each execution of each process: by which OS process, in which attempt. */
function executions(log: string) {
  const lines = readFileSync(log, 'utf8').split('\n').filter(Boolean)
  return (pid: string) =>
    lines
      .map((line) => line.split(' '))
      .filter(([of]) => of === pid)
      .map(([, attempt, osPid]) => [Number(attempt), Number(osPid)])
}

async function spawn(reeve: Reeve, request: ReturnType<typeof tool>, count: number): Promise<string[]> {
  const { processes } = await reeve.spawnMany({ processes: Array.from({ length: count }, () => request) })
  return processes.map(({ record }) => record.pid)
}

describe.each(NEW_STORES)('%s', (_, newStore) => {
  test('after kill -9 rerunnable work is run again once, bound work is abandoned and never run twice', async () => {
    const store = await newStore()
    const log = join(tempFolder(), 'executions')
    writeFileSync(log, '')
    const boss = await embed({ store })
    const victim = await startProgram('worker', [store, log])
    const again = await spawn(boss, tool('hang', 'rerunnable'), 5)
    const bound = await spawn(boss, tool('hang', 'bound'), 5)
    for (const pid of [...again, ...bound]) await victim.says('begun', (line) => line['begun'] === pid)
    await victim.kill()
    const heir = await startProgram('worker', [store, log])
    for (const pid of again)
      await heir.says('begun', (line) => line['begun'] === pid && line['attempt'] === 2)
    const ended = await boss.waitAll({ pids: bound })
    for (const { outcome, attempts } of ended.records)
      expect([outcome?.status, outcome?.evidence, attempts]).toEqual(['abandoned', 'holder_dead', 1])
    const executed = executions(log)
    for (const pid of again) {
      expect(executed(pid)).toEqual([
        [1, victim.osPid],
        [2, heir.osPid],
      ])
      expect((await boss.show({ pid })).status).toBe('running')
    }
    for (const pid of bound) expect(executed(pid)).toEqual([[1, victim.osPid]])
    await boss.close()
  })

  test('every spawn and event that was acknowledged before kill -9 is there, and the store is sound', async () => {
    const store = await newStore()
    const spawner = await startProgram('spawner', [store, '8'])
    await spawner.says('acknowledged', () => spawner.said.length > 400)
    await spawner.kill()
    const acknowledged = spawner.said.flatMap((line) =>
      'acknowledged' in line ? [String(line['acknowledged'])] : [],
    )
    expect(acknowledged.length).toBeGreaterThan(300)
    const opened = await (store.startsWith('postgres') ? openPostgres(store) : openSqlite(store))
    for (const pid of acknowledged)
      expect((await opened.ask({ ask: 'process', pid }))?.record.revision, pid).toBe(2)
    await assertSound(opened)
    await opened.close()
  })

  test('a wait that was cut off by kill -9 continues in another kernel with the answer it was given', async () => {
    const store = await newStore()
    const log = join(tempFolder(), 'executions')
    const boss = await embed({ store })
    const victim = await startProgram('worker', [store, log])
    const [pid = ''] = await spawn(boss, tool('listen', 'rerunnable'), 1)
    await boss.send({ pid, name: 'go', value: 'before' })
    await boss.waitFor({ pid, types: ['wait_left'] })
    await victim.kill()
    await boss.send({ pid, name: 'go', value: 'meanwhile' })
    await startProgram('worker', [store, log])
    const ended = await boss.wait({ pid })
    expect(ended.type === 'ended' && ended.record.outcome?.result).toEqual(['before', 'meanwhile'])
    expect(executions(log)(pid).map(([attempt]) => attempt)).toEqual([1, 2])
    await boss.close()
  })

  test('a wait in one OS process wakes when another writes the end', async () => {
    const store = await newStore()
    const boss = await embed({ store })
    const other = await startProgram('worker', [store, ''])
    const outside = { kind: 'external', spec: { description: 'x' } } as const
    const { record: here } = await boss.spawn(outside)
    const { record: there } = await boss.spawn(outside)
    other.tell(`wait ${here.pid}`)
    const waiting = boss.wait({ pid: there.pid })
    other.tell(`end ${there.pid}`)
    expect((await waiting).type).toBe('ended')
    await boss.end({ pid: here.pid, status: 'completed', replayKey: 'e' })
    expect(await other.says('waited')).toEqual({ waited: here.pid, type: 'ended' })
    other.tell('close')
    expect(await other.ended()).toBe(0)
    await boss.close()
  })

  test('several OS processes write at once, and all acknowledged writes are there', async () => {
    const store = await newStore()
    const programs = await Promise.all(
      ['1', '2', '3'].map(() => startProgram('spawner', [store, '4', '100'])),
    )
    const done = await Promise.all(programs.map((program) => program.says('done')))
    expect(programs.flatMap(({ said }) => said.filter((line) => 'code' in line))).toEqual([])
    expect(done).toHaveLength(3)
    const opened = await (store.startsWith('postgres') ? openPostgres(store) : openSqlite(store))
    const { live } = await opened.ask({ ask: 'activity', session: null, since: null })
    expect(live).toBe(300)
    await assertSound(opened)
    await opened.close()
  })
})

test('a write that finds the file locked lets the loop go on until the lock is gone', async () => {
  const file = join(tempFolder(), 'reeve.db')
  const ticker = await startProgram('ticker', [file])
  const other = new DatabaseSync(file)
  other.exec('begin immediate')
  ticker.tell('write')
  // Were the wait for the lock a blocking one, no tick would come before the lock is released, and it never would be.
  await ticker.says('tick', (line) => Number(line['tick']) >= 50)
  expect(ticker.said.some((line) => 'acknowledged' in line)).toBe(false)
  other.exec('rollback')
  await ticker.says('acknowledged')
  other.close()
  expect(await ticker.ended()).toBe(0)
})
