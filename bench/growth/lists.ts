import { monitorEventLoopDelay } from 'node:perf_hooks'
import { median, now } from '../clock.ts'
import type { Database } from '../durable/database.ts'
import { type Figure, figure, valueAtMost } from '../figure.ts'
import { type EmbeddedReeve, fill, type ListFilter, openToFill } from './fill.ts'

const ROUNDS = 7
const GOAL_MS = 50

/** Lists in a store with many ended processes: one page per filter, which may match little or nothing. */
export async function* lists(database: Database, count: number): AsyncGenerator<Figure> {
  const reeve = await openToFill(await database.fresh())
  try {
    await fill(reeve, count)
    await database.settled?.()
    const many = `list of ${count.toLocaleString('en-US')} ended, ${database.store}`
    const turns = monitorEventLoopDelay({ resolution: 1 })
    turns.enable()
    let mostCpuMs = 0
    for (const [what, filter] of Object.entries(FILTERS)) {
      const cpu = process.cpuUsage()
      const took = await timed(reeve, filter)
      const { user, system } = process.cpuUsage(cpu)
      mostCpuMs = Math.max(mostCpuMs, (user + system) / 1_000 / ROUNDS)
      yield figure(`${many}: ${what}`, took, 'ms', undefined, valueAtMost(GOAL_MS, 'ms'))
    }
    turns.disable()
    yield figure(`${many}: CPU time of the most expensive`, mostCpuMs, 'ms')
    yield figure(`${many}: longest turn of the loop`, turns.max / 1e6, 'ms')
  } finally {
    await reeve.close()
  }
}

const FILTERS: Readonly<Record<string, ListFilter>> = {
  'by status, one in ten': { status: ['failed'] },
  'by status, none': { status: ['abandoned'] },
  'by label, one in 20,000': { status: 'any', label: ['rare'] },
  'by label, none': { status: 'any', label: ['absent'] },
  'by definition, none': { status: 'any', definition: [{ flow: 'absent' }] },
  'by time, none': { status: 'any', createdAfter: 4_000_000_000_000 },
  'by session and label, none': { status: 'any', owner: { session: ['s1'] }, label: ['absent'] },
}

async function timed(reeve: EmbeddedReeve, filter: ListFilter): Promise<number> {
  const times: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const begun = now()
    await reeve.list({ filter, limit: 100 })
    times.push(now() - begun)
  }
  return median(times)
}
