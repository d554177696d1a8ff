import { once } from 'node:events'
import { createServer as createTlsServer } from 'node:https'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { limitHandshakes } from '../../src/server/handshakes.ts'

/** Accepted sockets of real connections on which the client says nothing. */
async function acceptedSockets(count: number): Promise<Socket[]> {
  const server = createServer()
  const accepted: Socket[] = []
  const all = new Promise<void>((resolve) => {
    server.on('connection', (socket) => {
      socket.on('error', () => undefined)
      if (accepted.push(socket) === count) resolve()
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const clients = Array.from({ length: count }, () => connect(port, '127.0.0.1'))
  for (const client of clients) client.on('error', () => undefined)
  onTestFinished(() => {
    for (const socket of [...clients, ...accepted]) socket.destroy()
    server.close()
  })
  await all
  return accepted
}

test('connections that arrive in one turn of the event loop each evict another one', async () => {
  const sockets = await acceptedSockets(12)
  const server = createTlsServer({})
  server.on('tlsClientError', () => undefined)
  limitHandshakes(server, 4)
  for (const socket of sockets) server.emit('connection', socket)
  expect(sockets.map(({ destroyed }) => destroyed)).toEqual([...Array(8).fill(true), ...Array(4).fill(false)])
})

test('a connection that closed by itself evicts no other', async () => {
  const [first, second, third] = (await acceptedSockets(3)) as [Socket, Socket, Socket]
  const server = createTlsServer({})
  server.on('tlsClientError', () => undefined)
  limitHandshakes(server, 2)
  for (const socket of [first, second]) server.emit('connection', socket)
  const closed = once(first, 'close')
  first.destroy()
  await closed
  server.emit('connection', third)
  expect([second.destroyed, third.destroyed]).toEqual([false, false])
})
