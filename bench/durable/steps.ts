import { embed, type WorkflowFunction } from '../../src/index.ts'
import { inTurns, median, now, until } from '../clock.ts'
import { type Figure, figure, ratioAtLeast, ratioAtMost } from '../figure.ts'
import { learnAppend } from './append-shape.ts'
import type { Database } from './database.ts'
import { rawPostgresAppends } from './raw-postgres.ts'
import { rawSqliteAppends } from './raw-sqlite.ts'

/** How many steps at the beginning and the end of a run are compared. The first ones warm up. */
const PART = 0.1
const WARM_UP = 10

/** One workflow of many steps, one after another, against one raw commit per step into the same tables. */
export async function* steps(
  database: Database,
  size: { count: number; rounds: number },
): AsyncGenerator<Figure> {
  const { count, rounds } = size
  const theirs = await database.fresh()
  const shape = await learnt(database, theirs)
  const raw = await (database.store === 'sqlite' ? rawSqliteAppends : rawPostgresAppends)(theirs, shape)
  const taken: number[] = []
  const early: number[] = []
  const late: number[] = []
  const reeve = await embed({ store: await database.fresh(), workflows: { work: timed(taken) } })
  const ours = async () => {
    taken.length = 0
    const begun = now()
    const { record } = await reeve.spawn({ kind: 'workflow', spec: { workflow: 'work', input: count } })
    await reeve.wait({ pid: record.pid })
    const rate = (count / (now() - begun)) * 1_000
    const part = Math.floor(count * PART)
    early.push(median(taken.slice(WARM_UP, WARM_UP + part)))
    late.push(median(taken.slice(-part)))
    return rate
  }
  const floor = async () => {
    const begun = now()
    for (let index = 0; index < count; index++) await raw.append(index)
    return (count / (now() - begun)) * 1_000
  }
  try {
    const { first, ratio } = await inTurns(rounds, ours, floor)
    const least = database.store === 'sqlite' ? 0.7 : 0.75
    const compared = { ratio, against: 'one raw commit per step into the same tables' }
    yield figure(`steps: ${database.store}`, first, 'steps/s', compared, ratioAtLeast(least))
    // A slow phase of the disk affects one end of a run, so the median run counts.
    const ratios = late.map((ms, round) => ms / (early[round] ?? ms))
    const growth = { ratio: median(ratios), against: 'the median step of the first tenth' }
    yield figure(`late steps of ${count}: ${database.store}`, median(late), 'ms', growth, ratioAtMost(1.2))
  } finally {
    await reeve.close()
    await raw.close()
  }
}

function timed(taken: number[]): WorkflowFunction {
  return async (ctx, count) => {
    for (let stepIndex = 1; stepIndex <= Number(count); stepIndex++) {
      const begun = now()
      await ctx.step('work', () => stepIndex)
      taken.push(now() - begun)
    }
  }
}

/** What one step writes, and the process it writes to. There is no other writer meanwhile. */
async function learnt(database: Database, address: string) {
  const waiting: (() => void)[] = []
  const work: WorkflowFunction = async (ctx) => {
    for (let n = 0; ; n++)
      await ctx.step('work', () => new Promise((resolve) => waiting.push(() => resolve(n))))
  }
  const reeve = await embed({ store: address, workflows: { work } })
  const { record } = await reeve.spawn({ kind: 'workflow', spec: { workflow: 'work', input: 0 } })
  const { pid } = record
  const step = async () => {
    const { revision } = await reeve.show({ pid })
    await until('the step has begun', () => waiting.length > 0)
    waiting.shift()?.()
    await reeve.waitFor({ pid, types: ['step_ended'], after: revision })
  }
  // The second one changes no more than any later one does.
  await step()
  return learnAppend(database, address, [pid], step, () => reeve.close())
}
