import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { connect } from 'reeve'
import { expect, onTestFinished, test, vi } from 'vitest'
import { FakeDaemon, json, STATUS } from './fake-daemon.ts'
import type { WorkerDaemonData } from './worker-daemon.ts'

interface Asked {
  readonly path: string
  readonly body: string
}

/** A daemon in another thread, so that it goes on while this one is blocked. */
async function workerDaemon() {
  const folder = mkdtempSync(join(tmpdir(), 'reeve-blocked-'))
  const socket = join(folder, 'reeve.sock')
  const closed = new Int32Array(new SharedArrayBuffer(4))
  const workerData: WorkerDaemonData = { socket, closed }
  const worker = new Worker(new URL('./worker-daemon.ts', import.meta.url), { workerData })
  onTestFinished(async () => {
    await worker.terminate()
    rmSync(folder, { recursive: true, force: true })
  })
  await once(worker, 'message')
  const asked: Asked[] = []
  worker.on('message', (one: Asked) => asked.push(one))
  return { socket, asked, blockUntilClosed: () => Atomics.wait(closed, 0, 0, 60_000) }
}

const COMMAND = { kind: 'command', spec: { run: 'true' } } as const

test.each([
  ['spawn', (reeve: Awaited<ReturnType<typeof connect>>) => reeve.spawn(COMMAND)],
  ['write', (reeve: Awaited<ReturnType<typeof connect>>) => reeve.write({ pid: 'web', text: 'yes\n' })],
])(
  'a %s on a connection that the daemon closed while the client was blocked is sent on a new one',
  async (name, call) => {
    const daemon = await workerDaemon()
    const reeve = await connect({ socket: daemon.socket })
    await reeve.list()
    daemon.blockUntilClosed()
    await expect(call(reeve)).resolves.toMatchObject({ type: 'registered' })
    await expect.poll(() => daemon.asked.length, { timeout: 30_000 }).toBe(3)
    expect(daemon.asked[2]?.path).toBe(name === 'spawn' ? '/v1/processes' : '/v1/processes/web/write')
    await reeve.close()
  },
)

test("an idle connection is not reused after the daemon's keep-alive timeout", async () => {
  vi.useFakeTimers({ toFake: ['performance'] })
  onTestFinished(() => void vi.useRealTimers())
  const daemon = new FakeDaemon()
  await daemon.start((response) => {
    response.setHeader('keep-alive', 'timeout=5')
    json(STATUS)(response, { method: '', path: '', query: new URLSearchParams(), headers: {}, body: '' })
  })
  const reeve = await connect({ socket: daemon.socket })
  await reeve.status()
  expect(daemon.connections).toBe(1)
  vi.advanceTimersByTime(3_900)
  await reeve.status()
  expect(daemon.connections).toBe(1)
  vi.advanceTimersByTime(4_100)
  await reeve.status()
  expect(daemon.connections).toBe(2)
  await reeve.close()
})

test('over a network, a reset of a reused connection may hide a performed request: only safe calls are repeated', async () => {
  const heard: string[] = []
  const server = createServer((request, response) => {
    const isFirst = !heard.includes(String(request.url))
    heard.push(String(request.url))
    request.resume().once('end', () => {
      if (isFirst && request.url !== '/v1/status') request.socket.resetAndDestroy()
      else response.end(JSON.stringify(STATUS))
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  // This address reaches this machine, and is not one of the loopback interface.
  const url = `http://0.0.0.0:${(server.address() as AddressInfo).port}`
  const reeve = await connect({ url, token: 't' })
  const written = reeve.write({ pid: 'web', text: 'yes\n' })
  await expect(written).rejects.toMatchObject({ code: 'daemon_unreachable', details: { sent: true } })
  await reeve.status()
  await reeve.list()
  const count = (path: string) => heard.filter((one) => one === path).length
  expect([count('/v1/processes/web/write'), count('/v1/processes')]).toEqual([1, 2])
  await reeve.close()
})
