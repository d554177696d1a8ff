import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { CommandLine } from './command-line.ts'

test('status works with the shorter answer of an older daemon', async () => {
  const boot = { adopted: [], completed: [], rerun: [], abandoned: [] }
  const said = { daemon: { id: 'k_1', osPid: 4711 }, keeper: null, live: 2, boot }
  const server = createServer((_request, response) => response.end(JSON.stringify(said)))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const { code, stdout, stderr } = await new CommandLine().run(['status', '--url', url, '--token', 't'])
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout).toContain('PID 4711')
  expect(stdout).toContain('2 processes')
})
