import { storeConformance } from 'reeve/testing'
import { describe, test } from 'vitest'
import { MemoryTables, openMemory } from '../../src/store/memory/open.ts'

describe('memory', () => {
  storeConformance({
    test: (name, body) => test(name, { timeout: 20_000 }, body),
    async fresh() {
      const shared = new MemoryTables()
      return { open: () => openMemory({ shared }), remove: async () => {} }
    },
  })
})
