import { execFileSync, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { get } from 'node:https'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { WebSocket } from 'ws'
import { TokenFile } from '../../src/daemon/token-file.ts'
import type { Daemon, UpOptions } from '../../src/daemon/up.ts'
import { until } from '../keeper/client.ts'
import { testIf } from '../reporting/test-if.ts'
import { TempReeve } from '../temp-reeve.ts'
import { ask } from './ask.ts'

async function begin(limits: NonNullable<UpOptions['limits']> = {}) {
  const temp = new TempReeve()
  const daemon = await temp.up({ limits })
  const agent = new TokenFile(temp.home).create({ role: 'agent', session: 's1' }).token
  return { daemon, agent }
}

/** An idle connection over TCP. */
async function idle(daemon: Daemon) {
  const socket = connect(Number(new URL(daemon.url ?? '').port), '127.0.0.1')
  socket.on('error', () => undefined)
  onTestFinished(() => void socket.destroy())
  await once(socket, 'connect')
  return socket
}

test('connections without a token do not keep out clients that have one', async () => {
  const { daemon, agent } = await begin()
  const idlers = await Promise.all(Array.from({ length: 600 }, () => idle(daemon)))
  // A connection with a token is accepted; those without one are evicted.
  for (const token of [daemon.token, agent])
    expect((await ask(daemon, 'GET /v1/whoami', { token })).status).toBe(200)
  expect((await ask(daemon, 'GET /v1/status')).status).toBe(200)
  await until('the oldest have made room', () => idlers.filter(({ closed }) => closed).length >= 500)
})

/** Writes a certificate for this machine into a folder. */
function selfSigned(folder: string): { readonly tlsCert: string; readonly tlsKey: string } {
  const [tlsCert, tlsKey] = [join(folder, 'cert.pem'), join(folder, 'key.pem')]
  const curve = 'ec_paramgen_curve:prime256v1'
  const made = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', curve, '-nodes', '-days', '2']
  const named = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=IP:127.0.0.1']
  execFileSync('openssl', [...made, ...named, '-keyout', tlsKey, '-out', tlsCert], { stdio: 'ignore' })
  return { tlsCert, tlsKey }
}

const hasOpenssl = spawnSync('openssl', ['version']).status === 0

testIf(hasOpenssl, 'needs openssl')(
  'connections that never agree on TLS make room for others, too',
  async () => {
    const temp = new TempReeve()
    const { tlsCert, tlsKey } = selfSigned(temp.home.folder)
    const flags = { listen: '127.0.0.1:0', tlsCert, tlsKey }
    const daemon = await temp.up({ flags, limits: { unauthenticated: 4 } })
    const idlers = await Promise.all(Array.from({ length: 40 }, () => idle(daemon)))
    await until('all but a few are closed', () => idlers.filter(({ closed }) => closed).length >= 36)
    const headers = { authorization: `Bearer ${daemon.token}` }
    const status = await new Promise((resolve, reject) => {
      get(`${daemon.url}/v1/status`, { ca: readFileSync(tlsCert), headers, agent: false }, ({ statusCode }) =>
        resolve(statusCode),
      ).on('error', reject)
    })
    expect(status).toBe(200)
  },
)

test('a connection without a token is closed after a while, and one with a token is not', async () => {
  const { daemon } = await begin({ unauthenticatedMs: 200 })
  const proven = await idle(daemon)
  const { port } = new URL(daemon.url ?? '')
  let said = ''
  proven.on('data', (data) => {
    said += data.toString()
  })
  const head = `Host: localhost:${port}\r\nAuthorization: Bearer ${daemon.token}\r\n`
  proven.write(`GET /v1/changes/stream?offset=now&live=sse HTTP/1.1\r\n${head}\r\n`)
  await until('it is served', () => said.includes('200 OK'))
  const unproven = await idle(daemon)
  if (!unproven.closed) await once(unproven, 'close')
  expect(proven.closed).toBe(false)
})

test('repeated requests without a token do not keep a connection open', async () => {
  const { daemon } = await begin()
  const headers = { connection: 'keep-alive' }
  expect((await ask(daemon, 'GET /v1/status', { token: null, headers })).headers.connection).toBe('close')
})

test('one token has a bounded number of open requests, and others are answered meanwhile', async () => {
  const { daemon, agent } = await begin({ requestsPerToken: 3 })
  const leave = new AbortController()
  onTestFinished(() => leave.abort())
  const followers = Array.from({ length: 3 }, () =>
    ask(daemon, 'GET /v1/changes/stream?offset=now&live=long-poll', {
      token: agent,
      signal: leave.signal,
    }).catch(() => undefined),
  )
  await until('all three are open', async () => {
    const said = await ask(daemon, 'GET /v1/whoami', { token: agent })
    return said.status === 429
  })
  const refused = await ask(daemon, 'GET /v1/whoami', { token: agent })
  expect(refused.json).toMatchObject({ code: 'too_many_requests', details: { limit: 3 } })
  expect(refused.json.remedy).toContain('waitAll')
  expect(refused.headers['retry-after']).toBe('1')
  expect((await ask(daemon, 'GET /v1/whoami', { token: daemon.token })).status).toBe(200)
  leave.abort()
  await Promise.all(followers)
  await until('there is room again', async () => {
    return (await ask(daemon, 'GET /v1/whoami', { token: agent })).status === 200
  })
})

/** Sends one request on a connection that stays open, and returns the answer; `''` if the connection closes instead. */
async function request(socket: Socket, daemon: Daemon, token: string, path: string): Promise<string> {
  const { host } = new URL(daemon.url ?? '')
  const answered = new Promise<string>((resolve) => {
    let said = ''
    socket.on('data', (data: Buffer) => {
      said += data.toString()
      const [head, body] = said.split('\r\n\r\n')
      const length = Number(/\r\ncontent-length: (\d+)/i.exec(head ?? '')?.[1] ?? 0)
      if (body !== undefined && Buffer.byteLength(body) >= length) resolve(said)
    })
    socket.once('close', () => resolve(said))
  })
  socket.write(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${token}\r\n\r\n`)
  if (socket.closed) return ''
  return answered
}

const STREAM = '/v1/changes/stream?offset=now&live=sse'

test('a connection beyond the limit of its token is refused and closed, and frees its slot', async () => {
  const { daemon, agent } = await begin({ connections: 3, connectionsPerToken: 2 })
  const sockets = [await idle(daemon), await idle(daemon)]
  for (const socket of sockets) expect(await request(socket, daemon, agent, STREAM)).toContain('200 OK')
  const extra = await idle(daemon)
  const refused = await request(extra, daemon, agent, '/v1/whoami')
  expect(refused).toContain(' 503 ')
  expect(refused).toContain('too_many_connections')
  expect(refused.toLowerCase()).toContain('\r\nconnection: close\r\n')
  expect((await ask(daemon, 'GET /v1/whoami', { token: daemon.token })).status).toBe(200)
  await until('the refused connection is closed', () => extra.closed)
  expect(sockets.map(({ closed }) => closed)).toEqual([false, false])
})

test('a connection that sends a second token beyond the limit of that token is closed, and frees its slot', async () => {
  const { daemon, agent } = await begin({ connectionsPerToken: 1 })
  const first = await idle(daemon)
  expect(await request(first, daemon, agent, STREAM)).toContain('200 OK')
  const second = await idle(daemon)
  expect(await request(second, daemon, daemon.token, '/v1/whoami')).toContain('200 OK')
  expect(await request(second, daemon, agent, '/v1/whoami')).toContain('too_many_connections')
  await until('the refused connection is closed', () => second.closed)
  await until('the slot of the second token is free', async () => {
    return (await ask(daemon, 'GET /v1/whoami', { token: daemon.token })).status === 200
  })
})

test('one token cannot take all connections, and another token is accepted meanwhile', async () => {
  const { daemon, agent } = await begin()
  // Fewer at once than may be open without a token.
  for (let round = 0; round < 20; round++) {
    const sockets = await Promise.all(Array.from({ length: 30 }, () => idle(daemon)))
    await Promise.all(sockets.map((socket) => request(socket, daemon, agent, '/v1/whoami')))
  }
  expect((await ask(daemon, 'GET /v1/whoami', { token: daemon.token })).status).toBe(200)
})

const fields = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, 1]))

test('a body with hundreds of thousands of values is refused before it is parsed', async () => {
  const { daemon, agent } = await begin()
  const spec = { description: 'x', ...fields(300_000) }
  for (const path of ['/v1/processes', '/mcp']) {
    const headers = { accept: 'application/json, text/event-stream' }
    const refused = await ask(daemon, `POST ${path}`, {
      token: agent,
      headers,
      body: { kind: 'external', spec },
    })
    expect([refused.status, refused.json.code]).toEqual([413, 'body_too_large'])
    expect(refused.json.detail).toContain('100000 values')
  }
  // Commas within a text are no values.
  const definition = `${',['.repeat(200_000)}\\"`
  const body = { kind: 'external', spec: { description: 'x' }, definition }
  expect((await ask(daemon, 'POST /v1/processes', { token: daemon.token, body })).status).toBe(200)
})

test('an input with very many unknown fields is refused with a few of their names', async () => {
  const { daemon, agent } = await begin()
  const many = fields(90_000)
  const spec = { description: 'x' }
  for (const body of [
    { kind: 'external', spec, ...many },
    { kind: 'external', spec: { ...spec, ...many } },
    { kind: 'external', spec, owner: many },
  ]) {
    const { status, json, bytes } = await ask(daemon, 'POST /v1/processes', { token: agent, body })
    expect(status).toBe(422)
    expect(json.code).toBe('invalid_input')
    expect(json.detail).toMatch(/"k0".*and 89995 more/)
    expect(bytes.length).toBeLessThan(10_000)
  }
})

test('an input with very many wrong values is refused with a few of them', async () => {
  const { daemon, agent } = await begin()
  const body = { pids: Array.from({ length: 90_000 }, () => '') }
  const { status, json, bytes } = await ask(daemon, 'POST /v1/wait-all', { token: agent, body })
  expect([status, json.code]).toEqual([422, 'invalid_input'])
  expect(bytes.length).toBeLessThan(20_000)
})

test('a terminal that sends invalid frames is closed, and others are answered meanwhile', async () => {
  const { daemon, agent } = await begin()
  const body = { kind: 'command', spec: { run: 'sleep 300', pty: true }, owner: { session: 's1' } }
  await ask(daemon, 'PUT /v1/sessions/s1', { token: agent, body: {} })
  const { pid } = (await ask(daemon, 'POST /v1/processes', { token: agent, body })).json.record
  const url = `${(daemon.url ?? '').replace('http', 'ws')}/v1/processes/${pid}/terminal`
  const ws = new WebSocket(url, { headers: { authorization: `Bearer ${agent}` } })
  onTestFinished(() => ws.terminate())
  let refusals = 0
  ws.on('message', (data: Buffer) => {
    if (data.toString().includes('refused')) refusals++
  })
  await once(ws, 'open')
  const closed = once(ws, 'close')
  for (let i = 0; i < 20_000; i++) ws.send('{}')
  const [code, reason] = await closed
  expect([code, String(reason)]).toEqual([1008, 'too_many_requests'])
  expect(refusals).toBeLessThanOrEqual(100)
  expect((await ask(daemon, 'GET /v1/whoami', { token: agent })).status).toBe(200)
})

/** The status of the answer to an upgrade; 101 if it became a terminal. */
async function openTerminal(daemon: Daemon, token: string, pid: string, headers = {}) {
  const url = `${(daemon.url ?? '').replace('http', 'ws')}/v1/processes/${pid}/terminal`
  const ws = new WebSocket(url, { headers: { authorization: `Bearer ${token}`, ...headers } })
  onTestFinished(() => ws.terminate())
  const status = await new Promise<number>((resolve, reject) => {
    ws.on('error', reject)
    ws.on('open', () => resolve(101))
    ws.on('unexpected-response', (_request, response) => {
      resolve(response.statusCode ?? 0)
      response.destroy()
    })
  })
  return { ws, status }
}

test('terminals that one token opens at the same time stay within its limit', async () => {
  const { daemon, agent } = await begin({ requestsPerToken: 3 })
  await ask(daemon, 'PUT /v1/sessions/s1', { token: agent, body: {} })
  const body = { kind: 'command', spec: { run: 'sleep 300', pty: true }, owner: { session: 's1' } }
  const { pid } = (await ask(daemon, 'POST /v1/processes', { body })).json.record
  const opened = await Promise.all(Array.from({ length: 12 }, () => openTerminal(daemon, agent, pid)))
  const statuses = opened.map(({ status }) => status).sort()
  expect(statuses).toEqual([...Array(3).fill(101), ...Array(9).fill(429)])
  for (const { ws } of opened) ws.terminate()
  await until('there is room again', async () => (await openTerminal(daemon, agent, pid)).status === 101)
})

test('a failed upgrade frees its slot', async () => {
  const { daemon, agent } = await begin({ requestsPerToken: 2 })
  await ask(daemon, 'PUT /v1/sessions/s1', { token: agent, body: {} })
  const body = { kind: 'command', spec: { run: 'sleep 300', pty: true }, owner: { session: 's1' } }
  const { pid } = (await ask(daemon, 'POST /v1/processes', { body })).json.record
  for (let tried = 0; tried < 4; tried++)
    expect((await openTerminal(daemon, agent, 'p_unknown')).status).toBe(404)
  const { port } = new URL(daemon.url ?? '')
  for (let tried = 0; tried < 4; tried++) {
    const socket = await idle(daemon)
    socket.resume()
    const head = `Host: localhost:${port}\r\nAuthorization: Bearer ${agent}\r\n`
    // Without a key, which the WebSocket library refuses.
    socket.write(
      `GET /v1/processes/${pid}/terminal HTTP/1.1\r\n${head}Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n`,
    )
    await until('it is closed', () => socket.closed)
  }
  await until('a terminal opens', async () => (await openTerminal(daemon, agent, pid)).status === 101)
})
