import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { cli } from '../../src/cli/cli.ts'
import type { DaemonControl } from '../../src/cli/daemon-control.ts'
import { FakeDaemon, json } from '../client/fake-daemon.ts'

test('down does not list processes if no daemon runs', async () => {
  const none = await new FakeDaemon().start(json({ processes: [], next: null }))
  const asked: string[] = []
  const daemon: Pick<DaemonControl, 'running' | 'down'> = {
    running: async (home) => {
      asked.push(home)
      return null
    },
    down: async () => null,
  }
  const stdout = new PassThrough()
  const code = await cli(['--home', none.folder, 'down'], {
    stdin: new PassThrough(),
    stdout,
    stderr: new PassThrough(),
    env: {},
    cwd: '/',
    daemon: daemon as DaemonControl,
  })
  expect([code, String(stdout.read())]).toEqual([0, `No daemon runs in ${none.folder}.\n`])
  expect(asked).toEqual([none.folder])
  expect(none.heard).toEqual([])
})
