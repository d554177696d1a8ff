import type { Figure } from '../figure.ts'
import { isWanted, type Measurements, measureEach, type Suite, type SuiteOptions, tried } from '../suite.ts'
import { across } from './across.ts'
import { appends } from './appends.ts'
import { build } from './build.ts'
import { type Database, sqliteDatabase, startPostgresDatabase } from './database.ts'
import { kill } from './kill.ts'
import { latency } from './latency.ts'
import { many } from './many.ts'
import { besidePeers } from './peers.ts'
import { steps } from './steps.ts'
import { turnover } from './turnover.ts'

const FULL = {
  appends: { count: 20_000, rounds: 5 },
  turnover: { count: 10_000, rounds: 5 },
  latency: 200,
  across: 200,
  steps: { count: 10_000, rounds: 3 },
  kill: 1_000,
  many: 100_000,
}
const QUICK: typeof FULL = {
  appends: { count: 2_000, rounds: 3 },
  turnover: { count: 2_000, rounds: 3 },
  latency: 30,
  across: 30,
  steps: { count: 1_000, rounds: 3 },
  kill: 200,
  many: 10_000,
}

/** The cost of accepting and completing work durably. */
export const durable: Suite = {
  summary: 'stores and kernel: appends, turnover, latency, steps, recovery (SQLite and PostgreSQL)',
  async *run(options) {
    options.say('building Reeve')
    const { reeve: built } = await build()
    yield* measured(sqliteDatabase(options.folder), built, options)
    if (MEASUREMENTS.some((name) => isWanted(`${name} postgres`, options))) {
      options.say('starting PostgreSQL')
      const postgres = await startPostgresDatabase()
      try {
        yield* measured(postgres, built, options)
      } finally {
        await postgres.stop()
      }
    }
    if (options.peers !== undefined && isWanted('peers', options))
      yield* tried('peers', besidePeers(options.peers, built, options), options)
  },
}

function measured(database: Database, built: string, options: SuiteOptions): AsyncGenerator<Figure> {
  return measureEach(measurementsOf(database, built, options), options)
}

function measurementsOf(database: Database, built: string, { quick, folder }: SuiteOptions): Measurements {
  const size = quick ? QUICK : FULL
  const all: Record<(typeof MEASUREMENTS)[number], () => AsyncIterable<Figure>> = {
    appends: () => appends(database, size.appends),
    turnover: () => turnover(database, size.turnover),
    latency: () => latency(database, size.latency),
    across: () => across(database, built, size.across),
    steps: () => steps(database, size.steps),
    kill: () => kill(database, built, size.kill, folder),
    many: () => many(database, built, size.many),
  }
  return Object.fromEntries(MEASUREMENTS.map((name) => [`${name} ${database.store}`, all[name]]))
}

const MEASUREMENTS = ['appends', 'turnover', 'latency', 'across', 'steps', 'kill', 'many'] as const
