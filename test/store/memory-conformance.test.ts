import { MemoryTables, openMemory, storeConformance } from 'reeve/testing'
import { describe, test } from 'vitest'

describe('memory', () => {
  storeConformance({
    test: (name, body) => test(name, { timeout: 20_000 }, body),
    async fresh() {
      const shared = new MemoryTables()
      return { open: () => openMemory({ shared }), remove: async () => {} }
    },
  })
})
