import { expect, inject, test } from 'vitest'
import type { Store } from '../../../src/store/contract.ts'
import { inMemory, inPostgres, inSqlite } from './memory-worlds.ts'
import { type MemoryWorld, runMemory } from './run-memory.ts'

test.each<[string, number, () => MemoryWorld]>([
  ['memory', 60, inMemory],
  ['SQLite', 20, inSqlite],
  ['PostgreSQL', 3, () => inPostgres(inject('postgresUrl'))],
])(
  'random acts on objects in %s answer as the reference does',
  { timeout: 120_000 },
  async (_, seeds, world) => {
    let crashes = 0
    for (let seed = 1; seed <= seeds; seed++) {
      const report = await runMemory(seed, world())
      crashes += report.crashes
      expect(report.violations, `seed ${seed}\n${report.trace.join('\n')}`).toEqual([])
    }
    expect(crashes).toBeGreaterThan(seeds)
  },
)

test('a store that shows a fork what was written later is found', async () => {
  const forgetful = (): MemoryWorld => {
    const world = inMemory()
    return {
      remove: world.remove,
      async open() {
        const store = await world.open()
        return {
          ...{ durability: store.durability, blobs: store.blobs, close: () => store.close() },
          write: (plan) => store.write(plan),
          onCommit: (listener) => store.onCommit(listener),
          ask: (question) =>
            question.ask === 'objectEvents'
              ? store.ask({ ...question, through: Number.MAX_SAFE_INTEGER })
              : store.ask(question),
        } as Store
      },
    }
  }
  const found: string[] = []
  for (let seed = 1; seed <= 10; seed++) found.push(...(await runMemory(seed, forgetful())).violations)
  expect(found.join('\n')).toContain('shows')
})
