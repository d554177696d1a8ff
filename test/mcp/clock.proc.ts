import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { tempFolder } from '../temp-folder.ts'
import { TempReeve } from '../temp-reeve.ts'
import { call } from './connected.ts'
import { reeveMcp } from './reeve-mcp.ts'

const HOUR_MS = 3_600_000

/** A remote daemon whose clock is an hour ahead of the client's, and the connection times that its clients report. */
async function daemonAhead(url: string) {
  const connectedAt: number[] = []
  const told: number[] = []
  const server = createServer(async (incoming, answer) => {
    const body = await buffer(incoming)
    if (incoming.url?.endsWith('/poll')) connectedAt.push(JSON.parse(body.toString('utf8')).reader.since)
    const { host: _, ...headers } = incoming.headers
    const forwarded = request(new URL(incoming.url ?? '/', url), { method: incoming.method, headers })
    forwarded.on('error', () => answer.destroy())
    forwarded.on('response', async (response) => {
      const isAboutTime = incoming.url?.endsWith('/whoami') && response.statusCode === 200
      if (!isAboutTime) {
        answer.writeHead(response.statusCode ?? 500, response.headers)
        response.pipe(answer)
        return
      }
      const said = JSON.parse((await buffer(response)).toString('utf8'))
      told.push(said.now + HOUR_MS)
      answer.writeHead(200, { 'content-type': 'application/json' })
      answer.end(JSON.stringify({ ...said, now: said.now + HOUR_MS }))
    })
    forwarded.end(body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, connectedAt, told }
}

test('over a URL the clock of the daemon says when a client connected', async () => {
  const temp = new TempReeve()
  const daemon = await temp.up()
  const ahead = await daemonAhead(daemon.url ?? '')
  const cwd = tempFolder()
  const env = { REEVE_URL: ahead.url, REEVE_TOKEN: daemon.token }
  const client = await reeveMcp(temp, { era: 'legacy', cwd, env })
  const started = await call(client, 'process_start', { run: 'echo one', waitMs: 30_000 })
  expect(started.text).toContain('one')
  expect(ahead.told).toHaveLength(1)
  expect(new Set(ahead.connectedAt)).toEqual(new Set(ahead.told))
})
