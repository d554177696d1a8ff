import { MemoryTables, openMemory, storeConformance } from 'reeve/testing'
import { describe, test } from 'vitest'

describe('memory', () => {
  storeConformance({
    test,
    async fresh() {
      const shared = new MemoryTables()
      return { open: () => openMemory({ shared }), remove: async () => {} }
    },
  })
})
