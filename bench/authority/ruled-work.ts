import { type Embedded, embed, type ReeveVerbs, type WorkflowFunction } from '../../src/index.ts'
import { byCallers, inTurns, median, now, until } from '../clock.ts'
import type { Database } from '../durable/database.ts'
import { type Figure, figure, ratioAtLeast, ratioAtMost } from '../figure.ts'
import { RULES_PER_SESSION, ruleSetOf, storeRuleSets } from './rules.ts'

interface Size {
  readonly count: number
  readonly rounds: number
}

const CALLERS = 64
const PROCESSES = 200
const WARM_UP = 0.2
const SCHEMA = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] }
const GOAL = ratioAtLeast(0.95)
const CPU_GOAL = ratioAtMost(1.05)
const AGAINST = 'the same without any rule'

/** Durable appends to processes of a session. */
export function ruledAppends(database: Database, size: Size): AsyncGenerator<Figure> {
  return compared(`appends, ${CALLERS} callers`, 'appends/s', database, size, async (reeve) => {
    const session = reeve.as('session:s1')
    const request = {
      kind: 'external',
      spec: { description: 'x' },
      eventTypes: { progress: { schema: SCHEMA } },
    } as const
    const { processes } = await session.spawnMany({ processes: Array(PROCESSES).fill(request) })
    const pids = processes.map(({ record }) => record.pid)
    return (count) =>
      byCallers(count, CALLERS, (n) =>
        session.append({ events: [{ pid: pids[n % pids.length] ?? '', type: 'progress', payload: { n } }] }),
      )
  })
}

/** One workflow of a session, of many steps one after another. */
export function ruledSteps(database: Database, size: Size): AsyncGenerator<Figure> {
  return compared('steps', 'steps/s', database, size, async (reeve) => {
    const session = reeve.as('session:s1')
    return async (count) => {
      const { record } = await session.spawn({ kind: 'workflow', spec: { workflow: 'work', input: count } })
      await reeve.wait({ pid: record.pid })
    }
  })
}

/** No-op tools of a session: each registration is checked, and its decision is audited if a rule allowed it. */
export function ruledTurnover(database: Database, size: Size): AsyncGenerator<Figure> {
  return compared(`turnover, ${CALLERS} callers`, 'units/s', database, size, async (reeve) => {
    const session: ReeveVerbs = reeve.as('session:s1')
    return async (count) => {
      await byCallers(count, CALLERS, () => session.spawn(UNIT))
      await until('every unit is completed', async () => (await live(reeve)) === 0)
    }
  })
}

const UNIT = {
  kind: 'tool',
  spec: { tool: 'unit', input: { hello: 'world' } },
  recovery: 'rerunnable',
} as const

const LIVE = ['queued', 'running', 'waiting'] as const

async function live(reeve: Embedded): Promise<number> {
  return (await reeve.list({ filter: { kind: ['tool'], status: [...LIVE] }, limit: 1 })).processes.length
}

type Work = (count: number) => Promise<void>

/** The same work of a session with rules and of one without, in turns, each in a store of its own. */
async function* compared(
  name: string,
  unit: string,
  database: Database,
  { count, rounds }: Size,
  prepare: (reeve: Embedded) => Promise<Work>,
): AsyncGenerator<Figure> {
  const ruled = await opened(database, RULES_PER_SESSION)
  const free = await opened(database, 0)
  const cpu = { ruled: [] as number[], free: [] as number[] }
  const rate = async (of: keyof typeof cpu, work: Work) => {
    const begun = now()
    const used = process.cpuUsage()
    await work(count)
    const { user, system } = process.cpuUsage(used)
    cpu[of].push((user + system) / count)
    return (count / (now() - begun)) * 1_000
  }
  try {
    const [ruledWork, freeWork] = [await prepare(ruled), await prepare(free)]
    for (const work of [ruledWork, freeWork]) await work(Math.ceil(count * WARM_UP))
    const { first, ratio } = await inTurns(
      rounds,
      () => rate('ruled', ruledWork),
      () => rate('free', freeWork),
    )
    const title = `${name}, ${RULES_PER_SESSION} rules: ${database.store}`
    yield figure(title, first, unit, { ratio, against: AGAINST }, GOAL)
    // Of this program alone. On a busy machine it varies less than the rate.
    const ratios = cpu.ruled.map((value, round) => value / (cpu.free[round] ?? value))
    const compared = { ratio: median(ratios), against: AGAINST }
    yield figure(`CPU of ${title}`, median(cpu.ruled), 'µs each', compared, CPU_GOAL)
  } finally {
    await ruled.close()
    await free.close()
  }
}

async function opened(database: Database, rules: number): Promise<Embedded> {
  const address = await database.fresh()
  if (rules > 0) {
    const store = await database.open(address)
    await storeRuleSets(store, [ruleSetOf('session:s1', rules)])
    await store.close()
  }
  const work: WorkflowFunction = async (ctx, count) => {
    for (let step = 1; step <= Number(count); step++) await ctx.step('work', () => step)
  }
  const reeve = await embed({ store: address, tools: { unit: () => null }, workflows: { work } })
  await reeve.openSession({ session: 's1' })
  return reeve
}
