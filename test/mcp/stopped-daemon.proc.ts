import { expect, test } from 'vitest'
import { down } from '../../src/daemon/down.ts'
import { tempFolder } from '../temp-folder.ts'
import { TempReeve } from '../temp-reeve.ts'
import { textOf } from './connected.ts'
import { reeveMcp } from './reeve-mcp.ts'

const TIMEOUT = { timeout: 120_000 }

for (const keep of [false, true]) {
  test(
    `after reeve down${keep ? ' --keep' : ''} tools that only look say that the daemon was stopped, and process_start starts it again`,
    TIMEOUT,
    async () => {
      const temp = new TempReeve()
      const client = await reeveMcp(temp, { era: 'modern', cwd: tempFolder() })
      expect(await textOf(client, 'process_start', { run: 'echo first', waitMs: 30_000 })).toContain('first')

      await down({ home: temp.home.folder, keep })
      for (const [tool, given] of [
        ['process_list', {}],
        ['inbox', {}],
        ['process_poll', { pid: 'first' }],
        ['process_write', { pid: 'first', text: 'x' }],
      ] as const) {
        const text = await textOf(client, tool, given)
        expect(text).toContain('The daemon was stopped by its user.')
        expect(text).toContain('process_start starts it again')
        expect(text).toContain('reeve up')
      }
      expect(temp.announced()).toBeNull()

      expect(await textOf(client, 'process_start', { run: 'echo second', waitMs: 30_000 })).toContain(
        'second',
      )
      const listed = await textOf(client, 'process_list', { status: 'any' })
      expect(listed).toContain('echo first')
      expect(listed).toContain('echo second')
    },
  )
}
