import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { embed } from '../../src/index.ts'
import { now, quantile, sleep } from '../clock.ts'
import { type Figure, figure, valueAtMost } from '../figure.ts'
import type { Database } from './database.ts'
import { killChild, startChild } from './start-child.ts'

const WARM_UP = 10
/** Long enough for the previous sample to be over. */
const IDLE_MS = 12

/** Spawned in one OS process, run by another: from the call until the first line of the handler; idle, one at a time. */
export async function* across(database: Database, built: string, samples: number): AsyncGenerator<Figure> {
  const store = await database.fresh()
  const child = await startChild(built, 'tell', store)
  const reeve = await embed({ store })
  const raw = await database.raw(await database.fresh())
  const ours: number[] = []
  const floor: number[] = []
  try {
    for (let sample = -WARM_UP; sample < samples; sample++) {
      const took = await spawnedThere(child, () => reeve.spawn(UNIT))
      await sleep(IDLE_MS)
      const begun = now()
      await raw.commitOne(() => {})
      const bare = now() - begun
      await sleep(IDLE_MS)
      if (sample < 0) continue
      ours.push(took)
      floor.push(bare)
    }
  } finally {
    await reeve.close()
    await raw.close()
    await killChild(child)
  }
  const name = `spawn here → handler in another OS process, ${database.store}`
  const compared = (part: number) => ({
    ratio: quantile(ours, part) / quantile(floor, part),
    against: 'raw: commit one row',
  })
  yield figure(`${name}: p50`, quantile(ours, 0.5), 'ms', compared(0.5), valueAtMost(20, 'ms'))
  yield figure(`${name}: p99`, quantile(ours, 0.99), 'ms', compared(0.99))
}

async function spawnedThere(child: ChildProcess, spawn: () => Promise<unknown>): Promise<number> {
  if (child.stdout === null) throw new Error('The child has no stdout.')
  const told = once(child.stdout, 'data')
  const begun = performance.timeOrigin + performance.now()
  const [[line]] = await Promise.all([told, spawn()])
  return Number(String(line)) - begun
}

const UNIT = { kind: 'tool' as const, spec: { tool: 'unit' }, recovery: 'rerunnable' as const }
