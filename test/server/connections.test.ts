import { Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { Connections } from '../../src/server/connections.ts'

const limits = { connections: 8, unauthenticated: 4, unauthenticatedMs: 60_000, connectionsPerToken: 2 }

/** A socket that says it comes from this address: a test has no network of its own. */
function from(remoteAddress: string): Socket {
  const socket = new Socket()
  Object.defineProperty(socket, 'remoteAddress', { value: remoteAddress })
  onTestFinished(() => void socket.destroy())
  return socket
}

function open(addresses: readonly string[]) {
  const connections = new Connections(limits, { needsToken: true })
  const sockets = addresses.map(from)
  for (const socket of sockets) expect(connections.add(socket)).toBe(null)
  return { connections, sockets }
}

test('connections from many addresses of one IPv6 /64 evict each other and no others', () => {
  const attacker = (at: number) => `2001:db8:bad:1::${at}`
  const { connections, sockets } = open(['2001:db8::1', '192.0.2.1', attacker(1), attacker(2)])
  const [first, second, ...attacking] = sockets
  for (let at = 3; at < 20; at++) {
    const socket = from(attacker(at))
    expect(connections.add(socket)).toBe(null)
    attacking.push(socket)
  }
  expect([first?.destroyed, second?.destroyed]).toEqual([false, false])
  expect(attacking.map(({ destroyed }) => destroyed)).toEqual([...Array(17).fill(true), false, false])
})

test('IPv4 clients of a listener on :: are told apart by their address', () => {
  const { connections, sockets } = open(['1', '2', '2', '2'].map((last) => `::ffff:192.0.2.${last}`))
  expect(connections.add(from('::ffff:192.0.2.3'))).toBe(null)
  expect(sockets.map(({ destroyed }) => destroyed)).toEqual([false, true, false, false])
})

test('a connection beyond the limit of its token can still be evicted', () => {
  const { connections, sockets } = open(['192.0.2.1', '192.0.2.1', '192.0.2.1'])
  const [first, second, refused] = sockets as [Socket, Socket, Socket]
  for (const socket of [first, second]) connections.authenticated(socket, 't_1')
  expect(() => connections.authenticated(refused, 't_1')).toThrow('2 connections with this token')
  for (let at = 0; at < 4; at++) expect(connections.add(from('192.0.2.1'))).toBe(null)
  expect([first, second, refused].map(({ destroyed }) => destroyed)).toEqual([false, false, true])
})
