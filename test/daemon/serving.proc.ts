import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { get } from 'node:https'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { testIf } from '../reporting/test-if.ts'
import { ask } from '../server/ask.ts'
import { TempReeve } from '../temp-reeve.ts'
import { canRun } from './daemon-fixture.ts'

test('the daemon serves MCP clients that have a token', async () => {
  const daemon = await new TempReeve().up()
  const body = {
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
  }
  const headers = { accept: 'application/json, text/event-stream' }
  expect((await ask(daemon, 'POST /mcp', { token: null, headers, body })).status).toBe(401)
  const said = await ask(daemon, 'POST /mcp', { token: daemon.token, headers, body })
  expect(said.status).toBe(200)
  expect(said.text).toContain('"serverInfo"')
  const large = { ...body, more: 'x'.repeat(5 * 1024 * 1024) }
  const chunked = { ...headers, 'transfer-encoding': 'chunked' }
  expect((await ask(daemon, 'POST /mcp', { headers: chunked, body: large })).status).toBe(413)
})

testIf(canRun('openssl', 'version'), 'needs openssl')(
  'everything is served over TLS where a certificate is given, beyond this machine too',
  async () => {
    const temp = new TempReeve()
    const [tlsCert, tlsKey] = ['cert.pem', 'key.pem'].map((name) => join(temp.home.folder, name)) as [
      string,
      string,
    ]
    const made = [
      'req',
      '-x509',
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:prime256v1',
      '-nodes',
      '-days',
      '2',
    ]
    const named = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1']
    execFileSync('openssl', [...made, ...named, '-keyout', tlsKey, '-out', tlsCert], { stdio: 'ignore' })
    const daemon = await temp.up({ flags: { listen: '0.0.0.0:0', tlsCert, tlsKey } })
    expect(daemon.url).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/)
    const status = await new Promise((resolve, reject) => {
      const headers = { authorization: `Bearer ${daemon.token}` }
      get(`${daemon.url}/v1/status`, { ca: readFileSync(tlsCert), headers, agent: false }, ({ statusCode }) =>
        resolve(statusCode),
      ).on('error', reject)
    })
    expect(status).toBe(200)
  },
)

test("an agent of the daemon cannot fetch the daemon's own pages", async () => {
  const temp = new TempReeve()
  const { reeve, url } = await temp.up()
  const answers = [
    { parts: [{ tool: 'web_fetch', input: { url: `${url}/healthz` } }] },
    { parts: [{ text: 'done' }] },
  ]
  writeFileSync(join(temp.folder, 'script.json'), JSON.stringify({ answers }))
  const spec = { agent: 'helper', model: 'scripted/script.json', goal: 'look', once: true }
  const { record } = await reeve.spawn({ kind: 'agent', cwd: temp.folder, spec })
  await reeve.wait({ pid: record.pid })
  const { events } = await reeve.events({ pid: record.pid })
  const answered = events.find(({ type }) => type === 'tool_answered')
  expect(JSON.stringify(answered?.payload)).toContain("is an internal address (Reeve's own)")
})
