import { type Database, sqliteDatabase, startPostgresDatabase } from '../durable/database.ts'
import type { Figure } from '../figure.ts'
import { isWanted, type Measurements, measureEach, type Suite, type SuiteOptions } from '../suite.ts'
import { lists } from './lists.ts'
import { prune } from './prune.ts'

const COUNT = 200_000
const QUICK_COUNT = 5_000
const MEASUREMENTS = ['prune', 'lists'] as const

/** The cost of a store with many ended processes. */
export const growth: Suite = {
  summary: 'a store with 200,000 ended processes (--count): pruning, lists (SQLite and PostgreSQL)',
  async *run(options) {
    yield* measured(sqliteDatabase(options.folder), options)
    if (!MEASUREMENTS.some((name) => isWanted(`${name} postgres`, options))) return
    options.say('starting PostgreSQL')
    const postgres = await startPostgresDatabase()
    try {
      yield* measured(postgres, options)
    } finally {
      await postgres.stop()
    }
  },
}

function measured(database: Database, options: SuiteOptions): AsyncGenerator<Figure> {
  const count = options.count ?? (options.quick ? QUICK_COUNT : COUNT)
  const all: Record<(typeof MEASUREMENTS)[number], () => AsyncIterable<Figure>> = {
    prune: () => prune(database, count),
    lists: () => lists(database, count),
  }
  const measurements: Measurements = Object.fromEntries(
    MEASUREMENTS.map((name) => [`${name} ${database.store}`, all[name]]),
  )
  return measureEach(measurements, options)
}
