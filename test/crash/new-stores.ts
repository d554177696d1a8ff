import postgres from 'postgres'
import { inject, onTestFinished } from 'vitest'
import { tempStore } from '../temp-folder.ts'

/** Creates the store of a test, a file or a PostgreSQL database, and removes it after the test. */
export const newStores = {
  SQLite: async () => tempStore(),
  PostgreSQL: async () => {
    const name = `reeve_${crypto.randomUUID().replaceAll('-', '')}`
    const url = new URL(inject('postgresUrl'))
    const sql = postgres(url.href, { max: 1, onnotice: () => {} })
    await sql.unsafe(`create database ${name}`)
    onTestFinished(async () => {
      await sql.unsafe(`drop database ${name} with (force)`)
      await sql.end()
    })
    url.pathname = `/${name}`
    return url.href
  },
} as const

export const NEW_STORES = Object.entries(newStores)
