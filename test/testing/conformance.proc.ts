import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { MemoryTables, openMemory, storeConformance } from 'reeve/testing'
import { expect, test } from 'vitest'
import type { Transaction } from '../../src/store/group-commit.ts'

test('the suite runs under any test runner', () => {
  const file = fileURLToPath(new URL('../fixtures/conformance-with-node-test.ts', import.meta.url))
  const run = spawnSync(
    process.execPath,
    ['--conditions=reeve-source', '--test', '--test-reporter=tap', file],
    { encoding: 'utf8' },
  )
  expect(run.stdout).toMatch(/^# fail 0$/m)
  expect(Number(/^# pass (\d+)$/m.exec(run.stdout)?.[1])).toBeGreaterThan(100)
})

test.each([
  ['notice', /notice/],
  ['grant', /grants/],
  ['group', /group/],
  ['environment', /environment/],
  ['account', /allowance/],
  ['holder', /row lapses/],
] as const)('the suite fails a store that forgets every %s', async (forgotten, about) => {
  const failed = await failuresOf(about, (inner) => ({
    begin: () => inner.begin(),
    answer: (question) => inner.answer(question),
    apply: (change) => {
      if (change.type !== forgotten) inner.apply(change)
    },
    commit: () => inner.commit(),
    rollback: () => inner.rollback(),
    isBusy: (error) => inner.isBusy(error),
    isPlanFault: (error) => inner.isPlanFault(error),
    toStoreError: (error, committing) => inner.toStoreError(error, committing),
  }))
  expect(failed).toBeGreaterThan(0)
})

/** How many of the matching tests fail over a store with this defect. */
async function failuresOf(about: RegExp, wrap: (inner: Transaction) => Transaction): Promise<number> {
  const tests: (() => Promise<void>)[] = []
  storeConformance({
    test: (name, body) => void (about.test(name) && tests.push(body)),
    async fresh() {
      const shared = new MemoryTables()
      return { open: () => openMemory({ shared, wrap }), remove: async () => {} }
    },
  })
  let failed = 0
  for (const body of tests) {
    await body().catch(() => {
      failed += 1
    })
  }
  return failed
}
