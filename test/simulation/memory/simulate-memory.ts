import { startPostgres } from '../../postgres-server.ts'
import { quickFolder } from '../../quick-folder.ts'
import { inMemory, inPostgres, inSqlite } from './memory-worlds.ts'
import { type MemoryReport, runMemory } from './run-memory.ts'

/** A schema takes longer than all acts of a seed. */
const POSTGRES_EACH = 10
const LAST_LINES = 40

/** Runs each seed in memory and in SQLite, and some in PostgreSQL. Returns whether no law was broken. */
export async function simulateMemory(first: number, seeds: number): Promise<boolean> {
  const server = await startPostgres(quickFolder)
  let [steps, crashes, worlds] = [0, 0, 0]
  try {
    for (let seed = first; seed < first + seeds; seed++) {
      const stores = [inMemory(), inSqlite(), ...(seed % POSTGRES_EACH === 0 ? [inPostgres(server.url)] : [])]
      for (const store of stores) {
        const report = await runMemory(seed, store)
        if (report.violations.length > 0) return tell(report)
        steps += report.steps
        crashes += report.crashes
        worlds += 1
      }
    }
  } finally {
    await server.stop()
  }
  console.log(`${seeds} seeds, ${worlds} worlds, ${steps} steps, ${crashes} crashes, 0 violations`)
  return true
}

function tell({ seed, violations, trace }: MemoryReport): false {
  console.log(`\nseed ${seed} broke a law`)
  for (const violation of violations) console.log(`  ${violation}`)
  for (const line of trace.slice(-LAST_LINES)) console.log(`  ${line}`)
  console.log(`\nreplay it: npm run simulate -- --memory --from ${seed} --seeds 1`)
  return false
}
