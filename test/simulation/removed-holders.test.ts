import { expect, test } from 'vitest'
import type { Transaction } from '../../src/store/group-commit.ts'
import type { Plant } from './plant.ts'
import { simulate } from './run.ts'

/** The first seed that shows the planted bug, and how many are tried from there. */
const SINCE = 11
const MAX_SEEDS = 100

test('the simulation finds a registration that does not ask whether its holder was removed', {
  timeout: 600_000,
}, async () => {
  const plant: Plant = {
    name: 'a registration that starts for a holder without a row',
    laws: ['a removed holder begins nothing'],
    transaction: believing,
  }
  for (let seed = SINCE; seed < SINCE + MAX_SEEDS; seed++) {
    const { violations } = await simulate(seed, { plant })
    if (violations.some(({ law }) => plant.laws.includes(law))) return
  }
  expect.fail(`It is not found in ${MAX_SEEDS} seeds.`)
})

/** Answers for every holder that it has a row. */
function believing(inner: Transaction): Transaction {
  return {
    begin: () => inner.begin(),
    answer: (question) => (question.ask === 'announced' ? true : inner.answer(question)),
    apply: (change) => inner.apply(change),
    commit: () => inner.commit(),
    rollback: () => inner.rollback(),
    isBusy: (error) => inner.isBusy(error),
    isPlanFault: (error) => inner.isPlanFault(error),
    toStoreError: (error, committing) => inner.toStoreError(error, committing),
  }
}
