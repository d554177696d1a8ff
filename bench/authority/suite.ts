import { onEachDatabase } from '../durable/on-each-database.ts'
import type { Suite } from '../suite.ts'
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
  run(options) {
    const size = options.quick ? QUICK : FULL
    return onEachDatabase(
      {
        appends: (database) => ruledAppends(database, size.appends),
        steps: (database) => ruledSteps(database, size.steps),
        turnover: (database) => ruledTurnover(database, size.turnover),
        checks: (database) => checks(database, size.checks),
      },
      options,
    )
  },
}
