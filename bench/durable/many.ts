import { embed } from '../../src/index.ts'
import { median, now, until } from '../clock.ts'
import { type Figure, figure, ratioAtMost, valueAtMost } from '../figure.ts'
import type { Database } from './database.ts'
import { killChild, startChild } from './start-child.ts'

const FEW = 100
const SPAWNS = 300
/** Twice the time for twice the records, with room for noise. */
const LINEAR = 1.3

/** The cost of many processes: recovery of live records whose holder was killed, and the spawn of one more child. */
export async function* many(database: Database, built: string, count: number): AsyncGenerator<Figure> {
  const tenth = await recovered(database, await held(database, built, count / 10), count / 10)
  const store = await held(database, built, count)
  const all = await recovered(database, store, count)
  const records = `${count.toLocaleString('en-US')} live records, ${database.store}`
  yield figure(`recovery of ${records}: ready`, all.readyMs / 1_000, 's', undefined, valueAtMost(2, 's'))
  const compared = {
    ratio: all.putBackMs / count / (tenth.putBackMs / (count / 10)),
    against: `cost of each of ${(count / 10).toLocaleString('en-US')}`,
  }
  yield figure(`recovery of ${records}: all back in line`, all.putBackMs / 1_000, 's', compared, {
    ...ratioAtMost(LINEAR),
    text: `linear (≤ ${LINEAR} ×)`,
  })
  yield await childSpawn(database, store, count)
}

/** A store whose live records are all held by a kernel that was killed. */
async function held(database: Database, built: string, count: number): Promise<string> {
  const store = await database.fresh()
  await killChild(await startChild(built, 'hold', store, count))
  return store
}

async function recovered(database: Database, address: string, count: number) {
  const begun = now()
  const store = await database.open(address)
  const [dead] = await store.ask({ ask: 'holders' })
  if (dead === undefined) throw new Error('The killed kernel left no row.')
  const reeve = await embed({ store })
  const readyMs = now() - begun
  const isHeld = async () =>
    (await store.ask({ ask: 'held', holder: dead.id, after: null, limit: 1 })).items.length > 0
  await until('every record is back in line', async () => !(await isHeld()), 5)
  const putBackMs = now() - begun
  const { live } = await reeve.liveCount({})
  if (live !== count) throw new Error(`${live} of ${count} records are live after recovery.`)
  await reeve.close()
  await store.close()
  return { readyMs, putBackMs }
}

/** The same parent and child in a store with few processes and in one with many, in turns. */
async function childSpawn(database: Database, crowded: string, count: number): Promise<Figure> {
  const [few, many] = await Promise.all([spawner(await database.fresh(), FEW), spawner(crowded, 0)])
  const times = { few: [] as number[], many: [] as number[] }
  for (let sample = 0; sample < SPAWNS; sample++) {
    times.few.push(await few.spawnChild())
    times.many.push(await many.spawnChild())
  }
  await Promise.all([few.close(), many.close()])
  const name = `spawn of a child at ${count.toLocaleString('en-US')} processes, ${database.store}`
  const compared = { ratio: median(times.many) / median(times.few), against: `at ${FEW} processes` }
  return figure(name, median(times.many), 'ms', compared, ratioAtMost(1.2))
}

async function spawner(store: string, others: number) {
  const reeve = await embed({ store })
  if (others > 0) await reeve.spawnMany({ processes: Array(others).fill(EXTERNAL) })
  const { record } = await reeve.spawn(EXTERNAL)
  return {
    async spawnChild() {
      const begun = now()
      await reeve.spawn({ ...EXTERNAL, parent: record.pid })
      return now() - begun
    },
    close: () => reeve.close(),
  }
}

const EXTERNAL = { kind: 'external' as const, spec: { description: 'a program elsewhere' } }
