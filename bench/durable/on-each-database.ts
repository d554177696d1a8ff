import type { Figure } from '../figure.ts'
import { isWanted, measureEach, type SuiteOptions } from '../suite.ts'
import { type Database, sqliteDatabase, startPostgresDatabase } from './database.ts'

/** Measurements by name, each of one database. */
type OnDatabase = Readonly<Record<string, (database: Database) => AsyncIterable<Figure>>>

/** Takes each measurement on SQLite, then on PostgreSQL, which is started only for a measurement that is wanted there. */
export async function* onEachDatabase(
  measurements: OnDatabase,
  options: SuiteOptions,
): AsyncGenerator<Figure> {
  yield* measured(sqliteDatabase(options.folder), measurements, options)
  if (!Object.keys(measurements).some((name) => isWanted(`${name} postgres`, options))) return
  options.say('starting PostgreSQL')
  const postgres = await startPostgresDatabase()
  try {
    yield* measured(postgres, measurements, options)
  } finally {
    await postgres.stop()
  }
}

function measured(database: Database, measurements: OnDatabase, options: SuiteOptions) {
  const named = Object.entries(measurements).map(
    ([name, measure]) => [`${name} ${database.store}`, () => measure(database)] as const,
  )
  return measureEach(Object.fromEntries(named), options)
}
