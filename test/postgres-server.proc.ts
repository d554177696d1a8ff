import { readFileSync } from 'node:fs'
import { expect, onTestFinished } from 'vitest'
import { startPostgres } from './postgres-server.ts'
import { testIf } from './reporting/test-if.ts'

testIf(process.platform === 'linux', 'needs /proc')(
  'a test server has no shared memory outside of its folder, so that a killed one leaves none behind',
  async () => {
    const server = await startPostgres()
    onTestFinished(() => server.stop())
    const maps = readFileSync(`/proc/${server.osPid()}/maps`, 'utf8')
    expect(maps).toContain('postgres')
    expect(maps.match(/\/dev\/shm\/PostgreSQL\.\d+/g) ?? []).toEqual([])
  },
)
