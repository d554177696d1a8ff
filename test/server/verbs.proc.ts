import { expect, test } from 'vitest'
import { TempReeve } from '../temp-reeve.ts'
import { ask } from './ask.ts'

const run = (line: string, more: object = {}) => ({ kind: 'command', spec: { run: line }, ...more })

test('a command is run, awaited and read over the socket and over TCP', async () => {
  const daemon = await new TempReeve().up()
  for (const token of [undefined, daemon.token]) {
    const door = token === undefined ? {} : { token }
    const spawned = await ask(daemon, 'POST /v1/processes', { ...door, body: run('echo hello; exit 7') })
    expect(spawned).toMatchObject({ status: 200, headers: { 'content-type': 'application/json' } })
    const { pid } = spawned.json.record
    const waited = await ask(daemon, `GET /v1/processes/${pid}/wait?timeoutMs=20000`, door)
    expect(waited.json).toMatchObject({ type: 'ended', record: { outcome: { exitCode: 7 } } })
    const read = await ask(daemon, `GET /v1/processes/${pid}/output`, door)
    expect(read.json).toMatchObject({ bytes: { $bytes: Buffer.from('hello\n').toString('base64') }, end: 6 })
  }
})

test('every answer has the position of the change feed, and following from there misses nothing', async () => {
  const daemon = await new TempReeve().up()
  const listed = await ask(daemon, 'GET /v1/processes')
  const position = Number(listed.headers['reeve-position'])
  const { json } = await ask(daemon, 'POST /v1/processes', { body: run('true') })
  const { events } = (await ask(daemon, `GET /v1/changes?after=${position}`)).json
  expect(events[0]).toMatchObject({ pid: json.record.pid, seq: 1 })
  const refused = await ask(daemon, 'GET /v1/processes/p_nope')
  expect(Number(refused.headers['reeve-position'])).toBeGreaterThan(position)
})

test('a spawn under the same idempotency key is the same process, also in the header', async () => {
  const daemon = await new TempReeve().up()
  const asking = { headers: { 'idempotency-key': 'deploy-7' }, body: run('echo once') }
  const first = await ask(daemon, 'POST /v1/processes', asking)
  const again = await ask(daemon, 'POST /v1/processes', asking)
  expect(again.json).toMatchObject({ type: 'existing', record: { pid: first.json.record.pid } })
  const other = await ask(daemon, 'POST /v1/processes', { ...asking, body: run('echo twice') })
  expect(other).toMatchObject({ status: 409, json: { code: 'conflict' } })
  const both = await ask(daemon, 'POST /v1/processes', {
    ...asking,
    body: run('echo once', { idempotencyKey: 'other' }),
  })
  expect(both).toMatchObject({ status: 400, json: { code: 'bad_request' } })
})

test('Reeve-As acts as another actor, who sees only its own processes', async () => {
  const daemon = await new TempReeve().up()
  await ask(daemon, 'PUT /v1/sessions/s1')
  const own = { owner: { session: 's1' } }
  const spawned = await ask(daemon, 'POST /v1/processes', {
    headers: { 'reeve-as': 'session:s1' },
    body: run('sleep 60', own),
  })
  expect(spawned.json.record.originator).toBe('session:s1')
  const as = (session: string) => ask(daemon, 'GET /v1/processes', { headers: { 'reeve-as': session } })
  expect((await as('session:s1')).json.processes).toHaveLength(1)
  expect((await as('session:s2')).json.processes).toHaveLength(0)
  expect(await as('kernel:k_1')).toMatchObject({ status: 400, json: { code: 'bad_request' } })
})

test('a wait ends when its client disconnects, and nothing else happens', async () => {
  const daemon = await new TempReeve().up()
  const { pid } = (await ask(daemon, 'POST /v1/processes', { body: run('sleep 60') })).json.record
  const gone = new AbortController()
  const waiting = ask(daemon, `GET /v1/processes/${pid}/wait`, { signal: gone.signal })
  await ask(daemon, 'GET /v1/status')
  gone.abort()
  await expect(waiting).rejects.toThrow(/abort/)
  expect((await ask(daemon, `GET /v1/processes/${pid}`)).json.status).toBe('running')
  const { text } = await ask(daemon, 'GET /metrics')
  expect(text).toMatch(/^reeve_connections 1$/m)
})
