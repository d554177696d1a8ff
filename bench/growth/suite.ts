import { onEachDatabase } from '../durable/on-each-database.ts'
import type { Suite } from '../suite.ts'
import { lists } from './lists.ts'
import { prune } from './prune.ts'

const COUNT = 200_000
const QUICK_COUNT = 5_000

/** The cost of a store with many ended processes. */
export const growth: Suite = {
  summary: 'a store with 200,000 ended processes (--count): pruning, lists (SQLite and PostgreSQL)',
  run(options) {
    const count = options.count ?? (options.quick ? QUICK_COUNT : COUNT)
    return onEachDatabase(
      { prune: (database) => prune(database, count), lists: (database) => lists(database, count) },
      options,
    )
  },
}
