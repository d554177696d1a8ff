import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { embed } from '../../src/index.ts'
import { now, until } from '../clock.ts'
import { type Figure, figure, valueAtMost } from '../figure.ts'
import type { Database } from './database.ts'
import { killChild, startChild } from './start-child.ts'

const CONCURRENCY = 10

/** Kills a worker after a fifth of the units have begun, and starts another; no other program works on them. */
export async function* kill(
  database: Database,
  built: string,
  units: number,
  folder: string,
): AsyncGenerator<Figure> {
  const store = await database.fresh()
  const log = join(mkdtempSync(join(folder, 'kill-')), 'begun.log')
  writeFileSync(log, '')
  const begunUnits = () => readFileSync(log, 'utf8').split('\n').filter(Boolean)
  const reeve = await embed({ store })
  const first = await startChild(built, 'work', store, log, CONCURRENCY)
  try {
    const processes = Array.from({ length: units }, (_, input) => ({
      kind: 'tool' as const,
      spec: { tool: 'unit', input },
      recovery: 'rerunnable' as const,
    }))
    await reeve.spawnMany({ processes })
    await until('a fifth of the units have begun', () => begunUnits().length >= units / 5)
    const killed = now()
    await killChild(first)
    const second = await startChild(built, 'work', store, log, CONCURRENCY)
    await until('every unit is completed', async () => (await reeve.liveCount({})).live === 0, 5)
    const took = now() - killed
    await killChild(second)
    const begun = begunUnits()
    const once = new Set(begun).size
    if (once !== units) throw new Error(`${units - once} of ${units} units never began.`)
    const name = `kill -9 with ${units.toLocaleString('en-US')} units, ${database.store}`
    const least = (units * 4 * 5) / 5 / CONCURRENCY
    yield figure(`${name}: all done`, took, 'ms', {
      ratio: took / least,
      against: `${least} ms of work left`,
    })
    yield figure(
      `${name}: began twice`,
      begun.length - once,
      'units',
      undefined,
      valueAtMost(CONCURRENCY, 'executing'),
    )
  } finally {
    await killChild(first)
    await reeve.close()
  }
}
