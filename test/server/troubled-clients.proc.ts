import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import type { Daemon, UpOptions } from '../../src/daemon/up.ts'
import { until } from '../keeper/client.ts'
import { TempReeve } from '../temp-reeve.ts'
import { ask } from './ask.ts'

const doors = ['socket', 'tcp'] as const

/** A raw connection and the bytes received on it. */
class Wire {
  readonly socket: Socket
  said = ''
  ended = false

  constructor(daemon: Daemon, door: (typeof doors)[number]) {
    this.socket =
      door === 'socket'
        ? connect(daemon.home.socket)
        : connect(Number(new URL(daemon.url ?? '').port), '127.0.0.1')
    this.socket.on('data', (data) => {
      this.said += data.toString('latin1')
    })
    this.socket.on('error', () => undefined)
    this.socket.on('close', () => {
      this.ended = true
    })
    onTestFinished(() => void this.socket.destroy())
  }

  async answer(): Promise<{ status: number; code: string }> {
    await until('it is closed', () => this.ended)
    const [head = '', body = ''] = this.said.split('\r\n\r\n')
    expect(head.toLowerCase()).toContain('content-type: application/problem+json')
    return { status: Number(head.split(' ')[1]), code: JSON.parse(body).code }
  }
}

async function started(limits: NonNullable<UpOptions['limits']>) {
  const daemon = await new TempReeve().up({ limits })
  const isWell = async () => (await ask(daemon, 'GET /readyz')).status === 200
  const connections = async () => {
    const { text } = await ask(daemon, 'GET /metrics')
    return Number(/^reeve_connections (\d+)$/m.exec(text)?.[1])
  }
  return { daemon, isWell, connections }
}

test.each(doors)(
  'bytes that are not HTTP are answered and the connection is closed, over %s',
  async (door) => {
    const { daemon, isWell } = await started({})
    const cases: readonly [string, number][] = [
      ['\0\x01\x02\r\n\r\n', 400],
      ['SSH-2.0-OpenSSH_9.9\r\n\r\n', 400],
      ['GET / HTTP/9.9\r\n\r\n', 400],
      ['GET /v1/status HTTP/1.1\r\nHost: a b\r\nContent-Length: x\r\n\r\n', 400],
      [`GET / HTTP/1.1\r\nHost: localhost\r\nX: ${'a'.repeat(40_000)}\r\n\r\n`, 431],
    ]
    for (const [text, status] of cases) {
      const wire = new Wire(daemon, door)
      wire.socket.write(text, 'latin1')
      expect(await wire.answer()).toEqual({ status, code: 'bad_request' })
    }
    expect(await isWell()).toBe(true)
  },
)

test.each(doors)('an unfinished request is answered and its connection closed, over %s', async (door) => {
  const { daemon, isWell, connections } = await started({ headersMs: 300, requestMs: 600 })
  const beginnings = [
    'GET /v1/status HTTP/1.1\r\nHost: localhost\r\nX-Slow: ',
    `POST /v1/processes HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 50\r\n\r\n{"kind"`,
  ]
  const wires = beginnings.map((text) => {
    const wire = new Wire(daemon, door)
    wire.socket.write(text)
    return wire
  })
  // Over TCP the second has been refused before its body was there.
  const answers = await Promise.all(wires.map(async (wire) => (await wire.answer()).status))
  expect(answers[0]).toBe(408)
  expect([401, 403, 408]).toContain(answers[1])
  await until('only the one that asks is open', async () => (await connections()) === 1)
  expect(await isWell()).toBe(true)
})

test.each(doors)('a client that vanishes during a request leaves nothing behind, over %s', async (door) => {
  const { daemon, isWell, connections } = await started({})
  const { pid } = (
    await ask(daemon, 'POST /v1/processes', { body: { kind: 'command', spec: { run: 'sleep 300' } } })
  ).json.record
  const { port } = new URL(daemon.url ?? '')
  const head = `Host: localhost:${port}\r\nAuthorization: Bearer ${daemon.token}\r\n`
  const requests = [
    '',
    'GET',
    `POST /v1/processes HTTP/1.1\r\n${head}Content-Type: application/json\r\nContent-Length: 5000\r\n\r\n{"kind":`,
    `GET /v1/processes/${pid}/wait HTTP/1.1\r\n${head}\r\n`,
    `GET /v1/processes/${pid}/output/stream?offset=-1&live=sse HTTP/1.1\r\n${head}\r\n`,
    `GET /v1/processes/${pid}/events/stream?offset=now&live=long-poll HTTP/1.1\r\n${head}\r\n`,
    `GET /v1/changes/stream?offset=now&live=sse HTTP/1.1\r\n${head}\r\n`,
    `GET /v1/processes/${pid}/terminal HTTP/1.1\r\n${head}Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`,
  ]
  const wires = requests.map((text) => {
    const wire = new Wire(daemon, door)
    wire.socket.write(text)
    return wire
  })
  await until('all are there', async () => (await connections()) === wires.length + 1)
  wires.forEach(({ socket }, i) => {
    if (i % 2 === 0 || door === 'socket') socket.destroy()
    else socket.resetAndDestroy()
  })
  await until('all are gone', async () => (await connections()) === 1)
  expect((await ask(daemon, `GET /v1/processes/${pid}`)).json.status).toBe('running')
  expect(await isWell()).toBe(true)
})

test.each(doors)(
  'a connection beyond the limit is refused, and the other listener still accepts, over %s',
  async (door) => {
    const { daemon } = await started({ connections: 4 })
    const { port } = new URL(daemon.url ?? '')
    const head = `Host: localhost:${port}\r\nAuthorization: Bearer ${daemon.token}\r\n`
    const wires = [1, 2, 3, 4].map(() => new Wire(daemon, door))
    // On an address only connections that have shown a token keep their slot.
    for (const { socket } of wires)
      socket.write(`GET /v1/changes/stream?offset=now&live=sse HTTP/1.1\r\n${head}\r\n`)
    await until('all four are served', () => wires.every(({ said }) => said.includes('200 OK')))
    const extra = new Wire(daemon, door)
    extra.socket.write('GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n')
    expect(await extra.answer()).toEqual({ status: 503, code: 'too_many_connections' })
    const other = door === 'socket' ? { token: daemon.token } : {}
    expect((await ask(daemon, 'GET /healthz', other)).status).toBe(200)
    wires[0]?.socket.destroy()
    const again = door === 'socket' ? {} : { token: daemon.token }
    await until('there is room again', async () => (await ask(daemon, 'GET /healthz', again)).status === 200)
  },
)

test('a client that does not read its answer is disconnected', async () => {
  const { daemon, connections } = await started({ stallMs: 400 })
  const body = { kind: 'command', spec: { run: 'yes | head -c 8000000; sleep 300' } }
  const { pid } = (await ask(daemon, 'POST /v1/processes', { body })).json.record
  const requests = [
    `GET /v1/processes/${pid}/output/stream?offset=-1&live=sse`,
    `GET /v1/processes/${pid}/output/stream`,
  ]
  const wires = requests.map((request) => {
    const wire = new Wire(daemon, 'tcp')
    wire.socket.pause()
    const { port } = new URL(daemon.url ?? '')
    const head = `Host: localhost:${port}\r\nAuthorization: Bearer ${daemon.token}\r\n`
    // A page of the second kind fits into the kernel's buffers: it is asked for until they are full.
    for (let i = 0; i < 20; i++) wire.socket.write(`${request} HTTP/1.1\r\n${head}\r\n`)
    return wire
  })
  await Promise.all(wires.map(({ socket }) => once(socket, 'connect')))
  // Connections are accepted in their order: both before this one.
  await ask(daemon, 'GET /healthz', { token: daemon.token })
  await until('both are gone', async () => (await connections()) === 1)
  for (const { socket } of wires) socket.resume()
  await until('both have been closed by the daemon', () => wires.every(({ ended }) => ended))
})

test('a wait may be silent for longer than the stall limit', async () => {
  const { daemon } = await started({ stallMs: 200 })
  const body = { kind: 'command', spec: { run: 'sleep 1; exit 4' } }
  const { pid } = (await ask(daemon, 'POST /v1/processes', { body })).json.record
  const waited = await ask(daemon, `GET /v1/processes/${pid}/wait`)
  expect(waited.json).toMatchObject({ type: 'ended', record: { outcome: { exitCode: 4 } } })
})

test('pipelined requests on one connection are answered in order', async () => {
  const { daemon } = await started({})
  const wire = new Wire(daemon, 'socket')
  const one = (path: string) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`
  wire.socket.write(one('/healthz') + one('/v1/nowhere') + one('/healthz'))
  const statuses = () => [...wire.said.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status)
  await until('all are answered', () => statuses().length === 3)
  expect(statuses()).toEqual(['200', '404', '200'])
})
