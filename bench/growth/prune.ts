import { statSync } from 'node:fs'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { now } from '../clock.ts'
import type { Database } from '../durable/database.ts'
import { type Figure, figure, valueAtMost } from '../figure.ts'
import { endSessions, fill, openToFill } from './fill.ts'

/** Ends many processes and prunes them all: the rate, the longest turn of the event loop, and the size of the file afterwards. */
export async function* prune(database: Database, count: number): AsyncGenerator<Figure> {
  const address = await database.fresh()
  const reeve = await openToFill(address)
  try {
    await fill(reeve, count)
    await endSessions(reeve)
    const many = count.toLocaleString('en-US')
    const before = sizeOf(database, address)
    const delay = monitorEventLoopDelay({ resolution: 1 })
    delay.enable()
    const begun = now()
    const cpu = process.cpuUsage()
    const { pruned } = await reeve.prune({ keep: 0 })
    const tookMs = now() - begun
    const { user, system } = process.cpuUsage(cpu)
    delay.disable()
    if (pruned.length !== count) throw new Error(`${pruned.length} of ${count} were pruned.`)
    const goal = { of: 'value', text: '≥ 20,000/s', atLeast: 20_000 } as const
    const rate = (count / tookMs) * 1_000
    const name = `prune of ${many} processes, ${database.store}`
    yield figure(name, rate, 'processes/s', undefined, database.store === 'sqlite' ? goal : undefined)
    yield figure(`prune of ${many}, ${database.store}: CPU time of each`, (user + system) / count, 'µs')
    yield figure(
      `prune of ${many}, ${database.store}: p99 of a turn of the loop`,
      delay.percentile(99) / 1e6,
      'ms',
    )
    yield figure(
      `prune of ${many}, ${database.store}: longest turn of the loop`,
      delay.max / 1e6,
      'ms',
      undefined,
      valueAtMost(100, 'ms'),
    )
    if (before === null) return
    await reeve.close()
    const after = sizeOf(database, address) ?? 0
    yield figure(`prune of ${many}, ${database.store}: file before`, before / 1e6, 'MB')
    yield figure(`prune of ${many}, ${database.store}: file afterwards`, after / 1e6, 'MB')
  } finally {
    await reeve.close()
  }
}

function sizeOf({ store }: Database, address: string): number | null {
  return store === 'sqlite' ? statSync(address).size : null
}
