import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { connect, ReeveError, RefusedError, StoreError } from 'reeve'
import { expect, onTestFinished, test, vi } from 'vitest'
import { cut, FakeDaemon, json, page, STATUS } from './fake-daemon.ts'

test('a verb is a request below /v1, and its answer has bytes where there were bytes', async () => {
  const bytes = { $bytes: Buffer.from('hi').toString('base64') }
  const daemon = await new FakeDaemon().start(json(STATUS), json({ offset: 3, bytes }))
  const reeve = await connect({ socket: daemon.socket })
  expect(reeve.kernel).toBe('k_1')
  const answer = await reeve.output({ pid: 'my web', offset: 3 })
  expect(Buffer.from(answer.bytes).toString()).toBe('hi')
  const [, heard] = daemon.heard
  expect([heard?.method, heard?.path, `${heard?.query}`]).toEqual([
    'GET',
    '/v1/processes/my%20web/output',
    'offset=3',
  ])
  await reeve.close()
})

test('a problem document becomes the error that the rule gave', async () => {
  const problem = {
    code: 'unknown_pid',
    detail: 'There is no web.',
    remedy: 'List them.',
    details: { pid: 'web' },
  }
  const daemon = await new FakeDaemon().start(
    json(STATUS),
    json(problem, 404),
    json({ ...problem, code: 'store_full' }, 503),
    json({ title: 'Unauthorized', code: 'unauthorized' }, 401),
  )
  const reeve = await connect({ socket: daemon.socket })
  const refused = await reeve.show({ pid: 'web' }).catch((error: unknown) => error)
  expect(refused).toBeInstanceOf(RefusedError)
  expect(refused).toMatchObject({
    code: 'unknown_pid',
    message: 'There is no web.',
    remedy: 'List them.',
    details: { pid: 'web' },
  })
  expect(await reeve.show({ pid: 'web' }).catch((error: unknown) => error)).toBeInstanceOf(StoreError)
  const denied = await reeve.show({ pid: 'web' }).catch((error: unknown) => error)
  expect(denied).toBeInstanceOf(ReeveError)
  expect(denied).toMatchObject({ code: 'unauthorized' })
  await reeve.close()
})

test('connecting to an unused address fails at once', async () => {
  const { folder } = new FakeDaemon()
  await expect(connect({ home: folder })).rejects.toMatchObject({ code: 'daemon_unreachable' })
})

test('connecting to a program that listens and never answers fails', async () => {
  const heard = Promise.withResolvers<void>()
  const connections: Socket[] = []
  const server = createServer((connection) => {
    connections.push(connection.once('data', () => heard.resolve()).on('error', () => undefined))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    for (const connection of connections) connection.destroy()
    server.close()
  })
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const { port } = server.address() as AddressInfo
  const refused = connect({ url: `http://127.0.0.1:${port}`, token: 't' }).catch((thrown: unknown) => thrown)
  await heard.promise
  vi.advanceTimersByTime(30_000)
  expect(await refused).toMatchObject({
    code: 'daemon_unreachable',
    message: `http://127.0.0.1:${port} has not answered within 30 s.`,
  })
})

test('an unresolvable host is reported as never sent', async () => {
  const error = await connect({ url: 'http://reeve.invalid:7777', token: 't' }).catch(
    (thrown: unknown) => thrown,
  )
  expect(error).toMatchObject({ code: 'daemon_unreachable', details: { sent: false } })
  expect(String(error)).toContain('The host of http://reeve.invalid:7777 cannot be resolved')
})

test.each([-1, 1.5, Number.NaN, 1e12])(
  'a wait for %d ms is sent as it is, for the daemon to refuse',
  async (timeoutMs) => {
    const daemon = await new FakeDaemon().start(
      json(STATUS),
      json({ code: 'invalid_input', detail: 'No.' }, 400),
    )
    const reeve = await connect({ socket: daemon.socket })
    await expect(reeve.wait({ pid: 'web', timeoutMs })).rejects.toMatchObject({ code: 'invalid_input' })
    expect(daemon.heard[1]?.query.get('timeoutMs')).toBe(JSON.stringify(timeoutMs))
    await reeve.close()
  },
)

test('a cut call is repeated if its verb may be repeated, and only then', async () => {
  const daemon = await new FakeDaemon().start(
    json(STATUS),
    cut(),
    json({ type: 'registered' }),
    cut(),
    json({ type: 'written', bytes: 4 }),
  )
  const reeve = await connect({ socket: daemon.socket })
  const request = { kind: 'command', spec: { run: 'true' } } as const
  expect(await reeve.spawn({ ...request, idempotencyKey: 'one' })).toEqual({ type: 'registered' })
  const written = reeve.write({ pid: 'web', text: 'yes\n' })
  await expect(written).rejects.toMatchObject({ code: 'daemon_unreachable', details: { sent: true } })
  expect(daemon.heard.filter(({ method }) => method === 'POST')).toHaveLength(3)
  await reeve.close()
})

test('a cut spawn, restart or send is repeated under one key, and answers like the first try', async () => {
  const daemon = await new FakeDaemon().start(
    json(STATUS),
    ...[cut(), json({ type: 'existing', record: { pid: 'p_1' } })],
    ...[cut(), json({ processes: [{ type: 'existing' }, { type: 'existing' }] })],
    ...[cut(), json({ record: { pid: 'p_2' } })],
    ...[cut(), json({ type: 'replayed', id: 'i' })],
  )
  const reeve = await connect({ socket: daemon.socket })
  const request = { kind: 'command', spec: { run: 'true' } } as const
  expect(await reeve.spawn(request)).toEqual({ type: 'registered', record: { pid: 'p_1' } })
  const many = await reeve.spawnMany({ processes: [request, { ...request, idempotencyKey: 'mine' }] })
  expect(many).toEqual({ processes: [{ type: 'registered' }, { type: 'existing' }] })
  expect(await reeve.restart({ pid: 'web' })).toEqual({ record: { pid: 'p_2' } })
  expect(await reeve.send({ pid: 'web', name: 'go' })).toEqual({ type: 'sent', id: 'i' })
  const bodies = daemon.heard.slice(1).map(({ body }) => body)
  const pairs = [0, 2, 4, 6].map((at) => [bodies[at], bodies[at + 1]])
  for (const [first, repeated] of pairs) {
    expect(repeated).toBe(first)
    expect(first).toMatch(/"(idempotencyKey|id)":"[0-9a-f-]{36}"/)
  }
  expect(new Set(pairs.map(([first]) => /[0-9a-f-]{36}/.exec(first ?? '')?.[0])).size).toBe(4)
  expect(bodies[2]).toContain('"idempotencyKey":"mine"')
  await reeve.close()
})

test('a daemon that refuses the key of a restart is called without it, once', async () => {
  const refused = json(
    { code: 'invalid_input', detail: 'The input of restart: there is no field "idempotencyKey" here.' },
    400,
  )
  const daemon = await new FakeDaemon().start(
    json(STATUS),
    ...[refused, json({ record: { pid: 'p_2' } })],
    ...[refused, cut(), json({ record: { pid: 'p_3' } })],
  )
  const reeve = await connect({ socket: daemon.socket })
  expect(await reeve.restart({ pid: 'web', graceMs: 5 })).toEqual({ record: { pid: 'p_2' } })
  expect(daemon.heard.at(-1)?.body).toBe('{"graceMs":5}')
  await expect(reeve.restart({ pid: 'web' })).rejects.toMatchObject({ code: 'daemon_unreachable' })
  expect(daemon.heard).toHaveLength(5)
  await reeve.close()
})

test('an aborted wait answers interrupted, and other calls throw', async () => {
  const daemon = await new FakeDaemon().start(json(STATUS), () => undefined)
  const reeve = await connect({ socket: daemon.socket })
  expect(await reeve.wait({ pid: 'web' }, { signal: AbortSignal.timeout(20) })).toEqual({
    type: 'interrupted',
  })
  await expect(reeve.show({ pid: 'web' }, { signal: AbortSignal.timeout(20) })).rejects.toMatchObject({
    name: 'TimeoutError',
  })
  await reeve.close()
})

test('every request of another actor has the header Reeve-As', async () => {
  const daemon = await new FakeDaemon().start(json(STATUS), json({ processes: [], next: null }))
  const reeve = await connect({ socket: daemon.socket, token: 'secret' })
  await reeve.as('session:s1').list()
  expect(daemon.heard[1]?.headers).toMatchObject({ 'reeve-as': 'session:s1', authorization: 'Bearer secret' })
  await reeve.close()
})

test('output is followed over pages, a gap, a cut and an empty poll: every byte once, and the gap is named', async () => {
  const problem = { code: 'gap', detail: 'gone', details: { from: 6, to: 10 } }
  const daemon = await new FakeDaemon().start(
    json(STATUS),
    page('one', 3),
    page('two', 6),
    json(problem, 410),
    (response) => {
      response.writeHead(200, { 'content-length': '5', 'stream-next-offset': '0000000000000015' })
      response.write('abc', () => response.destroy())
    },
    page('de', 15, { upToDate: true }),
    page(null, 15, { upToDate: true }),
    page('!', 16, { upToDate: true, closed: true }),
    json({ pid: 'web', outcome: { status: 'completed', exitCode: 0 } }),
  )
  const reeve = await connect({ socket: daemon.socket })
  const pieces: [number, string, unknown][] = []
  let ended: unknown
  for await (const { offset, bytes, gap, outcome } of reeve.followOutput({ pid: 'web' })) {
    pieces.push([offset, Buffer.from(bytes).toString(), gap])
    ended = outcome
  }
  expect(pieces).toEqual([
    [0, 'one', null],
    [3, 'two', null],
    [10, 'abc', { from: 6, to: 10 }],
    [13, 'de', null],
    [15, '!', null],
    [16, '', null],
  ])
  expect(ended).toEqual({ status: 'completed', exitCode: 0 })
  const pages = daemon.heard.slice(1, -1)
  expect(pages.map(({ query }) => Number(query.get('offset')))).toEqual([0, 3, 6, 10, 13, 15, 15])
  expect(pages.every(({ query }) => query.get('live') === 'long-poll')).toBe(true)
  // A daemon that does not send the outcome with the last page is asked for it.
  expect(daemon.heard.at(-1)?.path).toBe('/v1/processes/web')
  await reeve.close()
})

test('events are followed from a position on, past empty pages, until aborted', async () => {
  const event = (position: number) => ({ position, type: 'started' })
  const daemon = await new FakeDaemon().start(
    json(STATUS),
    page(JSON.stringify([event(3), event(4)]), 4),
    page('[]', 9, { upToDate: true }),
    page(JSON.stringify([event(10)]), 10, { upToDate: true }),
    () => undefined,
  )
  const reeve = await connect({ socket: daemon.socket })
  const stop = new AbortController()
  const positions: number[] = []
  const following = reeve.follow({ after: 2, filter: { name: 'web' } }, { signal: stop.signal })
  for await (const { position } of following) {
    positions.push(position)
    if (position === 10) setImmediate(() => stop.abort())
  }
  expect(positions).toEqual([3, 4, 10])
  expect(daemon.heard.slice(1, 4).map(({ query }) => Number(query.get('offset')))).toEqual([2, 4, 9])
  expect(daemon.heard[1]?.query.get('filter')).toBe('{"name":"web"}')
  await reeve.close()
})
