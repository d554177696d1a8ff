import { embed, type InputOf } from '../../src/index.ts'
import { now, quantile, sleep } from '../clock.ts'
import { type Figure, figure, ratioAtMost, valueAtMost } from '../figure.ts'
import type { Database } from './database.ts'

const WARM_UP = 10
/** Long enough for the previous sample to be over. */
const IDLE_MS = 12

/** Spawn → first line of the handler, and signal → the line after the wait; on an idle system, one at a time. */
export async function* latency(database: Database, samples: number): AsyncGenerator<Figure> {
  let arrived: () => void = () => {}
  const reeve = await embed({
    store: await database.fresh(),
    tools: {
      unit: () => void arrived(),
      waiter: async (context) => {
        await context.waitForSignal('go')
        arrived()
      },
    },
    workflows: {
      waiter: async (ctx) => {
        await ctx.waitForSignal('go')
        arrived()
      },
    },
  })
  const raw = await database.raw(await database.fresh())
  const arrival = async (begin: () => Promise<unknown>) => {
    const here = new Promise<number>((resolve) => {
      arrived = () => resolve(now())
    })
    const begun = now()
    const [at] = await Promise.all([here, begin()])
    return at - begun
  }
  const floor = () => arrival(() => raw.commitOne(() => arrived()))
  const spawned = () => arrival(() => reeve.spawn(toolCall('unit')))
  const signalled = async (request = toolCall('waiter')) => {
    const { record } = await reeve.spawn(request)
    await reeve.waitFor({ pid: record.pid, types: ['wait_entered'] })
    await sleep(IDLE_MS)
    return arrival(() => reeve.send({ pid: record.pid, name: 'go' }))
  }
  const most = database.store === 'sqlite' ? 10 : 20
  try {
    const spawn = await sampled(samples, spawned, floor)
    yield* figures(`spawn → handler, ${database.store}`, spawn)
    const signal = await sampled(samples, signalled, floor)
    yield* figures(`signal → after the wait, ${database.store}`, signal, most)
    const workflow = { kind: 'workflow', spec: { workflow: 'waiter' } } as const
    const durable = await sampled(samples, () => signalled(workflow), floor)
    yield* figures(`signal → after the wait of a workflow, ${database.store}`, durable, most)
  } finally {
    await reeve.close()
    await raw.close()
  }
}

interface Sampled {
  readonly ours: readonly number[]
  readonly floor: readonly number[]
}

/** In turns, sample by sample: a disk that is slow for a while is slow for both. */
async function sampled(
  samples: number,
  ours: () => Promise<number>,
  floor: () => Promise<number>,
): Promise<Sampled> {
  const all = { ours: [] as number[], floor: [] as number[] }
  for (let sample = -WARM_UP; sample < samples; sample++) {
    const pair = { ours: await ours(), floor: 0 }
    await sleep(IDLE_MS)
    pair.floor = await floor()
    await sleep(IDLE_MS)
    if (sample < 0) continue
    all.ours.push(pair.ours)
    all.floor.push(pair.floor)
  }
  return all
}

function* figures(name: string, { ours, floor }: Sampled, p99AtMost?: number): Generator<Figure> {
  const compared = (part: number) => ({
    ratio: quantile(ours, part) / quantile(floor, part),
    against: 'raw: commit one row, then setImmediate',
  })
  yield figure(`${name}: p50`, quantile(ours, 0.5), 'ms', compared(0.5), ratioAtMost(2))
  const limit = p99AtMost === undefined ? undefined : valueAtMost(p99AtMost, 'ms')
  yield figure(`${name}: p99`, quantile(ours, 0.99), 'ms', compared(0.99), limit)
}

function toolCall(tool: string): InputOf<'spawn'> {
  return { kind: 'tool' as const, spec: { tool }, recovery: 'rerunnable' as const }
}
