import type { Socket } from 'node:net'
import { ReeveError } from '../core/errors.ts'
import { oldestOfBusiestNetwork } from './client-network.ts'

export interface ConnectionLimits {
  /** Open connections of one listener. Each has its own limit, so that the network cannot shut out the user on the socket. */
  readonly connections: number
  /** Connections that have shown no token yet. One more evicts another. */
  readonly unauthenticated: number
  /** How long a connection may be open before it shows a token. */
  readonly unauthenticatedMs: number
  /** Open connections of one token. */
  readonly connectionsPerToken: number
}

/**
 * The open connections of one listener. On an address a connection must show a token soon: until then it has one of a few
 * slots, and a new connection evicts the oldest one of the network that holds the most. So clients without a token can't
 * keep out clients that have one.
 */
export class Connections {
  readonly #limits: ConnectionLimits
  readonly #needsToken: boolean
  readonly #open = new Set<Socket>()
  /** In the order of their arrival, with the timer of their deadline. */
  readonly #unauthenticated = new Map<Socket, NodeJS.Timeout>()
  readonly #byToken = new Map<string, Set<Socket>>()

  constructor(limits: ConnectionLimits, { needsToken }: { readonly needsToken: boolean }) {
    this.#limits = limits
    this.#needsToken = needsToken
  }

  get size(): number {
    return this.#open.size
  }

  [Symbol.iterator](): Iterator<Socket> {
    return this.#open.values()
  }

  /** Takes the connection, and evicts another one if that is needed. Returns the error for a connection that has no slot. */
  add(socket: Socket): ReeveError | null {
    const { connections, unauthenticated, unauthenticatedMs } = this.#limits
    if (this.#open.size >= connections || this.#unauthenticated.size >= unauthenticated) this.#makeRoom()
    if (this.#open.size >= connections) return tooMany(connections)
    this.#open.add(socket)
    socket.once('close', () => this.#remove(socket))
    if (this.#needsToken) {
      const timer = setTimeout(() => socket.destroy(), unauthenticatedMs).unref()
      this.#unauthenticated.set(socket, timer)
    }
    return null
  }

  /**
   * Counts the connection for a valid token, null for the user. Throws if that token has too many connections; the connection
   * then keeps its deadline, and its slot among the unauthenticated, until its refusal closes it.
   */
  authenticated(socket: Socket, tokenId: string | null): void {
    if (tokenId !== null && this.#open.has(socket)) this.#countForToken(socket, tokenId)
    clearTimeout(this.#unauthenticated.get(socket))
    this.#unauthenticated.delete(socket)
  }

  #countForToken(socket: Socket, tokenId: string): void {
    const sockets = this.#byToken.get(tokenId) ?? new Set()
    if (sockets.has(socket)) return
    const { connectionsPerToken } = this.#limits
    if (sockets.size >= connectionsPerToken)
      throw new ReeveError(
        'too_many_connections',
        `${connectionsPerToken} connections with this token are open, which is the limit.`,
        'Close some, or share them; another program can have a token of its own.',
        { details: { limit: connectionsPerToken } },
      )
    this.#byToken.set(tokenId, sockets.add(socket))
    socket.once('close', () => {
      sockets.delete(socket)
      if (sockets.size === 0 && this.#byToken.get(tokenId) === sockets) this.#byToken.delete(tokenId)
    })
  }

  #remove(socket: Socket): void {
    this.#open.delete(socket)
    clearTimeout(this.#unauthenticated.get(socket))
    this.#unauthenticated.delete(socket)
  }

  #makeRoom(): void {
    const oldest = oldestOfBusiestNetwork(this.#unauthenticated.keys())
    if (oldest === undefined) return
    this.#remove(oldest)
    oldest.destroy()
  }
}

function tooMany(limit: number): ReeveError {
  return new ReeveError(
    'too_many_connections',
    `${limit} connections are open, which is the limit.`,
    'Close some, or share them.',
    { details: { limit } },
  )
}
