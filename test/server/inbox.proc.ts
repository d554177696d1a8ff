import { expect, test } from 'vitest'
import { connect } from '../../src/client/connect.ts'
import { TokenFile } from '../../src/daemon/token-file.ts'
import type { Daemon } from '../../src/daemon/up.ts'
import { TempReeve } from '../temp-reeve.ts'
import { ask } from './ask.ts'

const offset = (n: number) => String(n).padStart(16, '0')

async function told(daemon: Daemon, name: string): Promise<void> {
  const body = { kind: 'command', name, spec: { run: `echo ${name}` }, owner: { session: 's1' } }
  const { json } = await ask(daemon, 'POST /v1/processes', { body })
  await ask(daemon, `GET /v1/processes/${json.record.pid}/wait?timeoutMs=30000`)
}

test('an inbox is read, taken from and acknowledged over HTTP', async () => {
  const daemon = await new TempReeve().up()
  await ask(daemon, 'PUT /v1/sessions/s1', { body: {} })
  await told(daemon, 'one')
  const read = await ask(daemon, 'GET /v1/inbox?scope=session:s1')
  expect(read.json).toMatchObject({
    more: false,
    notices: [
      { kind: 'completion', payload: { name: 'one' }, text: expect.stringContaining('output:\none') },
    ],
  })
  const take = { scope: 'session:s1', consumer: 'a' }
  const taken = await ask(daemon, 'POST /v1/inbox/take', { body: take })
  expect(taken.json.notices).toHaveLength(1)
  expect(
    (await ask(daemon, 'POST /v1/inbox/take', { body: { ...take, consumer: 'b' } })).json.notices,
  ).toEqual([])
  const positions = [taken.json.notices[0].position]
  const acknowledged = await ask(daemon, 'POST /v1/inbox/acknowledge', { body: { ...take, positions } })
  expect(acknowledged.json).toMatchObject({ acknowledged: positions, lost: [] })
  expect((await ask(daemon, 'GET /v1/inbox?scope=session:s1')).json.notices).toEqual([])
  expect(await ask(daemon, 'POST /v1/inbox/acknowledge', { body: take })).toMatchObject({ status: 422 })
  expect(await ask(daemon, 'GET /v1/inbox?scope=nobody')).toMatchObject({ status: 422 })
})

test('a polled end is not delivered again in that turn, and an awaited end never', async () => {
  const temp = new TempReeve()
  const daemon = await temp.up()
  await ask(daemon, 'PUT /v1/sessions/s1', { body: {} })
  await told(daemon, 'one')
  const { token } = new TokenFile(temp.home).create({ role: 'agent', session: 's1' })
  const shown = async (query = '') =>
    (await ask(daemon, `GET /v1/inbox?scope=session:s1${query}`, { token })).json.notices.length
  await ask(daemon, 'POST /v1/processes/one/poll', { body: { turn: 't1' } })
  expect(await shown('&turn=t1')).toBe(1)
  const polled = await ask(daemon, 'POST /v1/processes/one/poll', { token, body: { turn: 't1' } })
  expect(polled.json).toMatchObject({ text: 'one\n' })
  expect([await shown('&turn=t1'), await shown('&turn=t2'), await shown()]).toEqual([0, 1, 1])
  const waited = await ask(daemon, 'GET /v1/processes/one/wait', { token })
  expect(waited.json).toMatchObject({ type: 'ended' })
  expect(await shown()).toBe(0)
})

test('an inbox is a stream from any offset on, with notices that are done', async () => {
  const daemon = await new TempReeve().up()
  await ask(daemon, 'PUT /v1/sessions/s1', { body: {} })
  const path = '/v1/inbox/stream?scope=session:s1'
  const first = ask(daemon, `GET ${path}&offset=-1&live=long-poll`)
  await told(daemon, 'one')
  const { json, headers } = await first
  expect(json).toMatchObject([{ payload: { name: 'one' } }])
  // A notice that is done, and the end of an output, may read differently the next time.
  expect(headers).not.toHaveProperty('etag')
  const next = String(headers['stream-next-offset'])
  await ask(daemon, 'POST /v1/inbox/acknowledge', {
    body: { scope: 'session:s1', consumer: 'a', positions: [json[0].position] },
  })
  expect((await ask(daemon, `GET ${path}&offset=-1`)).json).toHaveLength(1)
  const second = ask(daemon, `GET ${path}&offset=${next}&live=long-poll`)
  await told(daemon, 'two')
  expect((await second).json).toMatchObject([{ payload: { name: 'two' } }])
  expect((await ask(daemon, `HEAD ${path}`)).headers['stream-next-offset']).toBe(
    offset((await second).json[0].position),
  )
  expect(await ask(daemon, 'GET /v1/inbox/stream')).toMatchObject({ status: 422 })
})

test('a follower over the wire survives a replaced daemon, and misses nothing', async () => {
  const temp = new TempReeve()
  const one = await temp.up()
  await ask(one, 'PUT /v1/sessions/s1', { body: {} })
  const reeve = await connect({ home: temp.home.folder })
  const stop = new AbortController()
  const names: string[] = []
  const following = (async () => {
    for await (const { payload, position } of reeve.inbox(
      { scope: 'session:s1', consumer: 'a', take: {} },
      { signal: stop.signal },
    )) {
      names.push(Object(payload).name)
      await reeve.acknowledge({ scope: 'session:s1', consumer: 'a', positions: [position] })
      if (names.length === 2) stop.abort()
    }
  })()
  await told(one, 'one')
  await expect.poll(() => names).toEqual(['one'])
  await one.close()
  const two = await temp.up()
  await told(two, 'two')
  await following
  expect(names).toEqual(['one', 'two'])
  await reeve.close()
})
