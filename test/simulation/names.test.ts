import { expect, test } from 'vitest'
import type { Question } from '../../src/store/contract.ts'
import type { Transaction } from '../../src/store/group-commit.ts'
import { KEPT_NAME } from './checks/names.ts'
import { namedRegistrations as more } from './intents/names.ts'
import type { Plant } from './plant.ts'
import { simulate } from './run.ts'

const SEEDS = 6
/** The planted bug must be found within this many seeds. */
const MAX_SEEDS = 20

test(`in ${SEEDS} seeds no process is registered beside one of a kept name, and no other law is broken`, {
  timeout: 600_000,
}, async () => {
  for (let seed = 1; seed <= SEEDS; seed++) {
    const { violations } = await simulate(seed, { more })
    expect(violations, `seed ${seed}`).toEqual([])
  }
})

test('the simulation finds a registration that misses the process of a kept name', {
  timeout: 600_000,
}, async () => {
  const plant: Plant = {
    name: 'a name that is looked up outside of the transaction',
    laws: ['a kept name has one process'],
    transaction: unseeing,
  }
  for (let seed = 1; seed <= MAX_SEEDS; seed++) {
    const { violations } = await simulate(seed, { more, plant })
    if (violations.some(({ law }) => plant.laws.includes(law))) return
  }
  expect.fail(`It is not found in ${MAX_SEEDS} seeds.`)
})

/** Finds no process by the kept name. */
function unseeing(inner: Transaction): Transaction {
  const isNamed = (question: Question) =>
    question.ask === 'processes' && question.filter.name?.includes(KEPT_NAME) === true
  return {
    begin: () => inner.begin(),
    answer: (question) => (isNamed(question) ? { items: [], next: null } : inner.answer(question)),
    apply: (change) => inner.apply(change),
    commit: () => inner.commit(),
    rollback: () => inner.rollback(),
    isBusy: (error) => inner.isBusy(error),
    isPlanFault: (error) => inner.isPlanFault(error),
    toStoreError: (error, committing) => inner.toStoreError(error, committing),
  }
}
