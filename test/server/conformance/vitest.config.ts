import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: { include: ['test/server/conformance/suite.ts'], testTimeout: 60_000, pool: 'threads' },
})
