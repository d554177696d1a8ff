import { embed } from '../../src/index.ts'
import { byCallers, inTurns, now, until } from '../clock.ts'
import { type Figure, figure } from '../figure.ts'
import type { Database } from './database.ts'

const CALLERS = 64
const CHUNK = 500
const BULK_CALLS = 2
const WARM_UP = 1_000

/** No-op units: accepted durably by their own calls or in bulk, run, completed durably. */
export async function* turnover(
  database: Database,
  size: { count: number; rounds: number },
): AsyncGenerator<Figure> {
  let ran = 0
  const reeve = await embed({ store: await database.fresh(), tools: { unit: () => void ran++ } })
  const raw = await database.raw(await database.fresh())
  const unfinished = async () => (await reeve.liveCount({})).live
  const ours = {
    single: (count: number) =>
      timed(count, unfinished, () => byCallers(count, CALLERS, () => reeve.spawn(UNIT))),
    bulk: (count: number) =>
      timed(count, unfinished, () =>
        byCallers(count / CHUNK, BULK_CALLS, () => reeve.spawnMany({ processes: Array(CHUNK).fill(UNIT) })),
      ),
  }
  const accept = () => raw.accept(() => {})
  const floor = {
    single: (count: number) => timed(count, raw.unfinished, () => byCallers(count, CALLERS, accept)),
    bulk: (count: number) =>
      timed(count, raw.unfinished, () =>
        byCallers(count / CHUNK, BULK_CALLS, () => Promise.all(Array.from({ length: CHUNK }, accept))),
      ),
  }
  try {
    for (const way of ['single', 'bulk'] as const) {
      await ours[way](WARM_UP)
      await floor[way](WARM_UP)
      ran = 0
      const { first, ratio } = await inTurns(
        size.rounds,
        () => ours[way](size.count),
        () => floor[way](size.count),
      )
      if (ran !== size.count * size.rounds)
        throw new Error(`${ran} units ran instead of ${size.count * size.rounds}.`)
      const how = way === 'single' ? `${CALLERS} callers` : `${CHUNK} a call`
      yield figure(`turnover, ${how}: ${database.store}`, first, 'units/s', {
        ratio,
        against: 'raw group commit',
      })
    }
  } finally {
    await reeve.close()
    await raw.close()
  }
}

const UNIT = {
  kind: 'tool' as const,
  spec: { tool: 'unit', input: { hello: 'world' } },
  recovery: 'rerunnable' as const,
}

/** Units per second, until the store reports that none is left. */
async function timed(
  count: number,
  unfinished: () => Promise<number>,
  accept: () => Promise<void>,
): Promise<number> {
  const begun = now()
  await accept()
  await until('every unit is completed', async () => (await unfinished()) === 0)
  return (count / (now() - begun)) * 1_000
}
