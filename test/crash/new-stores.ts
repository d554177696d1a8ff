import postgres from 'postgres'
import { inject, onTestFinished } from 'vitest'
import { tempStore } from '../temp-folder.ts'

/** Where a test's store lies: a file, or a PostgreSQL database of its own. What is made here goes with the test. */
export const places = {
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

export const PLACES = Object.entries(places)
