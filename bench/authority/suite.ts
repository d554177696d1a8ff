import { type Database, sqliteDatabase, startPostgresDatabase } from '../durable/database.ts'
import type { Figure } from '../figure.ts'
import { isWanted, type Measurements, measureEach, type Suite, type SuiteOptions } from '../suite.ts'
import { checks } from './checks.ts'
import { ruledAppends, ruledSteps, ruledTurnover } from './ruled-work.ts'

const FULL = {
  appends: { count: 20_000, rounds: 7 },
  steps: { count: 5_000, rounds: 7 },
  turnover: { count: 5_000, rounds: 7 },
  checks: { capabilities: [10, 1_000, 100_000], samples: 2_000 },
}
const QUICK: typeof FULL = {
  appends: { count: 1_000, rounds: 3 },
  steps: { count: 300, rounds: 3 },
  turnover: { count: 500, rounds: 3 },
  checks: { capabilities: [10, 1_000], samples: 200 },
}

/** The cost of rules: work of a session with 100 rules beside that of one without, and a check among many rules. */
export const authority: Suite = {
  summary:
    'rules: appends, steps and turnover under 100 of them, a check among 100,000 (SQLite and PostgreSQL)',
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
  const size = options.quick ? QUICK : FULL
  const all: Record<(typeof MEASUREMENTS)[number], () => AsyncIterable<Figure>> = {
    appends: () => ruledAppends(database, size.appends),
    steps: () => ruledSteps(database, size.steps),
    turnover: () => ruledTurnover(database, size.turnover),
    checks: () => checks(database, size.checks),
  }
  const measurements: Measurements = Object.fromEntries(
    MEASUREMENTS.map((name) => [`${name} ${database.store}`, all[name]]),
  )
  return measureEach(measurements, options)
}

const MEASUREMENTS = ['appends', 'steps', 'turnover', 'checks'] as const
