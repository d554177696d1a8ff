import { statSync } from 'node:fs'
import { connect } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { TokenFile } from '../../src/daemon/token-file.ts'
import { until } from '../keeper/client.ts'
import { TempReeve } from '../temp-reeve.ts'
import { type Asking, ask } from './ask.ts'

test('only their owner can read the socket and the token', async () => {
  const { home, up } = withHome()
  await up()
  for (const [path, mode] of [
    [home.folder, 0o700],
    [home.socket, 0o600],
    [home.token, 0o600],
    [home.tokens, 0o600],
    [home.daemon, 0o600],
  ] as const)
    expect([path, statSync(path).mode & 0o777]).toEqual([path, mode])
})

test('over TCP every request but health checks needs a token', async () => {
  const daemon = await new TempReeve().up()
  for (const path of ['/v1/status', '/v1/openapi.json', '/metrics', '/v1/nowhere', '/mcp']) {
    const said = await ask(daemon, `GET ${path}`, { token: null })
    expect(said).toMatchObject({ status: 401, json: { code: 'unauthorized' } })
    expect(said.headers['www-authenticate']).toMatch(/^Bearer/)
  }
  for (const path of ['/healthz', '/readyz'])
    expect((await ask(daemon, `GET ${path}`, { token: null })).status).toBe(200)
  for (const authorization of ['Bearer', 'Bearer ', 'Basic abc', `bearer  ${'x'.repeat(5_000)}`])
    expect((await ask(daemon, 'GET /v1/status', { token: null, headers: { authorization } })).status).toBe(
      401,
    )
})

test('after ten wrong tokens in a minute an address has to wait, and a valid token still works', async () => {
  const daemon = await new TempReeve().up()
  const statuses: number[] = []
  for (let i = 0; i < 12; i++)
    statuses.push((await ask(daemon, 'GET /v1/status', { token: `wrong${i}` })).status)
  expect(statuses).toEqual([...Array(10).fill(401), 429, 429])
  expect((await ask(daemon, 'GET /v1/status', { token: daemon.token })).status).toBe(200)
})

test('a foreign Host or Origin is refused with any token, and no answer allows other origins', async () => {
  const daemon = await new TempReeve().up()
  const { port } = new URL(daemon.url ?? '')
  const as = (headers: Record<string, string>, path = '/v1/status') =>
    ask(daemon, `GET ${path}`, { token: daemon.token, headers })
  for (const host of [
    'evil.example',
    `evil.example:${port}`,
    'localhost',
    '127.0.0.1:1',
    `localhost.evil.example:${port}`,
  ])
    for (const path of ['/v1/status', '/healthz'])
      expect([host, (await as({ host }, path)).json.code]).toEqual([host, 'forbidden'])
  for (const origin of ['http://evil.example', 'null', `http://evil.example:${port}`, 'http://localhost', ''])
    expect([origin, (await as({ origin })).status]).toEqual([origin, 403])
  expect((await as({ 'sec-fetch-site': 'cross-site' })).status).toBe(403)
  for (const host of [`localhost:${port}`, `LOCALHOST:${port}`, `127.0.0.1:${port}`, `[::1]:${port}`]) {
    const said = await as({ host, origin: `http://${host}` })
    expect([host, said.status]).toEqual([host, 200])
    expect(Object.keys(said.headers).filter((name) => name.startsWith('access-control'))).toEqual([])
  }
})

test('each role may call its verbs and no others', async () => {
  const { home, up } = withHome()
  const daemon = await up()
  const tokens = new TokenFile(home)
  const { token: read } = tokens.create({ role: 'read' })
  const { token: operate, kept } = tokens.create({ role: 'operate' })
  const code = async (token: string, what: string, body: unknown) =>
    (await ask(daemon, what, { token, body } as Asking)).json.code
  const spawn = { kind: 'external', spec: { description: 'elsewhere' } }
  expect((await ask(daemon, 'GET /v1/processes', { token: read })).status).toBe(200)
  expect(await code(read, 'POST /v1/processes', spawn)).toBe('forbidden')
  // Reeve signals tracked processes, so only the host may name a PID, over the socket or with an admin token.
  const { token: agent } = tokens.create({ role: 'agent', session: 'tracker' })
  for (const token of [read, operate, agent])
    expect(await code(token, 'POST /v1/track', { osPid: process.ppid })).toBe('forbidden')
  expect(await code(daemon.token, 'POST /v1/track', { osPid: process.ppid })).toBe('not_trackable')
  expect((await ask(daemon, 'POST /v1/processes', { token: operate, body: spawn })).status).toBe(200)
  expect(await code(operate, 'POST /v1/prune', {})).toBe('forbidden')
  expect((await ask(daemon, 'POST /v1/recover', { token: daemon.token, body: {} })).status).toBe(200)
  tokens.revoke(kept.id)
  expect((await ask(daemon, 'GET /v1/processes', { token: operate })).status).toBe(401)
})

test('open requests of a token are cut when it is revoked', async () => {
  const { home, up } = withHome()
  const daemon = await up()
  const tokens = new TokenFile(home)
  const { token, kept } = tokens.create({ role: 'operate' })
  // It prints nothing: output would answer the long poll.
  const body = { kind: 'command', spec: { run: 'exec cat', stdin: 'pipe' } }
  const { pid } = (await ask(daemon, 'POST /v1/processes', { token, body })).json.record
  const cut = ['wait', 'output/stream?offset=now&live=sse', 'output/stream?offset=now&live=long-poll'].map(
    async (what) =>
      ask(daemon, `GET /v1/processes/${pid}/${what}`, { token }).then(
        // One that came in too late is refused.
        ({ status }) => (status === 401 ? 'cut' : `answered ${status}`),
        () => 'cut',
      ),
  )
  await until('they are let in', async () =>
    /^reeve_connections [4-9]/m.test((await ask(daemon, 'GET /metrics')).text),
  )
  tokens.revoke(kept.id)
  expect(await Promise.all(cut)).toEqual(['cut', 'cut', 'cut'])
  expect((await ask(daemon, `GET /v1/processes/${pid}`)).json.status).toBe('running')
})

test('a request with two Host headers is refused', async () => {
  const daemon = await new TempReeve().up()
  const { hostname, port } = new URL(daemon.url ?? '')
  const socket = connect(Number(port), hostname)
  onTestFinished(() => void socket.destroy())
  socket.end(`GET /healthz HTTP/1.1\r\nHost: localhost:${port}\r\nHost: evil.example\r\n\r\n`)
  const pieces: Buffer[] = []
  for await (const piece of socket) pieces.push(piece as Buffer)
  expect(Buffer.concat(pieces).toString()).toMatch(/^HTTP\/1\.1 400 /)
})

test("agents of two sessions can neither see nor change each other's processes", async () => {
  const { home, up } = withHome()
  const daemon = await up()
  const tokens = new TokenFile(home)
  const agents = await Promise.all(
    ['s1', 's2'].map(async (session) => {
      await ask(daemon, `PUT /v1/sessions/${session}`, {})
      const { token } = tokens.create({ role: 'agent', session })
      const body = { kind: 'command', spec: { run: 'echo secret; sleep 60' }, owner: { session } }
      const spawned = await ask(daemon, 'POST /v1/processes', { token, body })
      return { session, token, pid: spawned.json.record.pid as string }
    }),
  )
  const [one, two] = agents as [(typeof agents)[0], (typeof agents)[0]]
  for (const [{ token, pid, session }, other] of [[one, two] as const, [two, one] as const]) {
    const as = (what: string, asking: Asking = {}) => ask(daemon, what, { token, ...asking })
    const { processes } = (await as('GET /v1/processes')).json
    expect(processes.map(({ record }: { record: { pid: string } }) => record.pid)).toEqual([pid])
    for (const what of [
      '',
      '/output',
      '/log',
      '/events',
      '/wait',
      '/output/stream',
      '/events/stream',
      '/usage',
    ])
      expect([what, (await as(`GET /v1/processes/${other.pid}${what}`)).status]).toEqual([what, 403])
    for (const what of ['/v1/inbox', '/v1/inbox/stream']) {
      expect((await as(`GET ${what}?scope=session:${session}`)).status).toBe(200)
      expect((await as(`GET ${what}?scope=session:${other.session}`)).status).toBe(403)
    }
    for (const what of ['take', 'acknowledge']) {
      const body = { consumer: 'x', ...(what === 'take' ? {} : { through: 0 }) }
      const asked = async (scope: string) =>
        (await as(`POST /v1/inbox/${what}`, { body: { ...body, scope } })).status
      expect([await asked(`session:${session}`), await asked(`session:${other.session}`)]).toEqual([200, 403])
    }
    for (const what of ['kill', 'restart', 'close-input', 'poll'])
      expect([what, (await as(`POST /v1/processes/${other.pid}/${what}`, { body: {} })).status]).toEqual([
        what,
        403,
      ])
    expect((await as(`POST /v1/processes/${other.pid}/write`, { body: { text: 'x' } })).status).toBe(403)
    for (const what of ['GET /v1/changes', 'GET /v1/changes/stream'])
      expect((await as(what)).text).not.toContain(other.pid)
    expect((await as('POST /v1/kill-all', { body: {} })).json.matched).toBe(1)
    const outside = { kind: 'command', spec: { run: 'true' }, owner: { session: other.session } }
    expect((await as('POST /v1/processes', { body: outside })).json.code).toBe('denied')
    expect((await as(`PUT /v1/sessions/${other.session}`, { body: {} })).status).toBe(403)
    expect((await as(`DELETE /v1/sessions/${other.session}`)).status).toBe(403)
    for (const actor of ['host', `session:${other.session}`])
      expect((await as('GET /v1/processes', { headers: { 'reeve-as': actor } })).json.code).toBe('forbidden')
    expect((await as('GET /v1/processes', { headers: { 'reeve-as': `session:${session}` } })).status).toBe(
      200,
    )
    for (const what of ['POST /v1/prune', 'POST /v1/recover'])
      expect((await as(what, { body: {} })).json.code).toBe('forbidden')
    expect((await as('GET /metrics')).json.code).toBe('forbidden')
    expect((await as('GET /v1/status')).json.code).toBe('denied')
  }
})

test('a token on the socket limits the caller to its role, and a wrong token is refused', async () => {
  const { home, up } = withHome()
  const daemon = await up()
  await ask(daemon, 'PUT /v1/sessions/s1', {})
  const { token } = new TokenFile(home).create({ role: 'agent', session: 's1' })
  await ask(daemon, 'POST /v1/processes', { body: { kind: 'command', spec: { run: 'sleep 60' } } })
  const bySocket = (authorization: string) => ask(daemon, 'GET /v1/processes', { headers: { authorization } })
  expect((await bySocket(`Bearer ${token}`)).json.processes).toEqual([])
  expect((await bySocket('Bearer wrong')).json.code).toBe('unauthorized')
  expect((await ask(daemon, 'GET /v1/processes')).json.processes).toHaveLength(1)
})

function withHome() {
  const temp = new TempReeve()
  return { home: temp.home, up: () => temp.up() }
}
