import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { oldestOfBusiestNetwork } from './client-network.ts'

/** Bounds the connections that have not finished their TLS handshake: a new one evicts the oldest of the busiest network. */
export function limitHandshakes(server: Server, max: number): void {
  // `secureConnection` has another socket object than `connection`; both have the same remote address and port.
  const pending = new Map<string, Socket>()
  const nameOf = ({ remoteAddress, remotePort }: Socket) => `${remoteAddress} ${remotePort}`
  const evictOne = () => {
    const evicted = oldestOfBusiestNetwork(pending.values())
    // Removed here: its close event comes in a later turn of the loop, and more connections may come in this one.
    for (const [name, socket] of pending) if (socket === evicted) pending.delete(name)
    evicted?.destroy()
  }
  server.prependListener('connection', (socket: Socket) => {
    const name = nameOf(socket)
    if (pending.size >= max) evictOne()
    pending.set(name, socket)
    socket.once('close', () => {
      if (pending.get(name) === socket) pending.delete(name)
    })
  })
  server.on('secureConnection', (socket: Socket) => pending.delete(nameOf(socket)))
}
