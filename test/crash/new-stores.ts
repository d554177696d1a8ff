import postgres from 'postgres'
import { inject, onTestFinished } from 'vitest'
import { newDatabase } from '../store/postgres/new-database.ts'
import { tempStore } from '../temp-folder.ts'

/** Creates the store of a test, a file or a PostgreSQL database, and removes it after the test. */
export const newStores = {
  SQLite: async () => tempStore(),
  PostgreSQL: async () => {
    const sql = postgres(inject('postgresUrl'), { max: 1, onnotice: () => {} })
    const { url, drop } = await newDatabase(sql)
    onTestFinished(async () => {
      await drop()
      await sql.end()
    })
    return url
  },
} as const

export const NEW_STORES = Object.entries(newStores)
