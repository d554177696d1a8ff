import type { Agent, IncomingHttpHeaders } from 'node:http'
import type { Socket } from 'node:net'

/** A request that is sent this long before the daemon's timeout may arrive after it. */
const MARGIN_MS = 1_000

/**
 * Keep-alive hints of the daemon. Node closes an idle connection by a timer, which fires too late in a program whose event
 * loop was blocked: so each connection's age is checked again before it may be reused.
 */
export class IdleConnections {
  readonly #usableUntil = new WeakMap<Socket, number>()

  /** Remembers until when a connection, whose answer has just ended, may be reused. */
  note(socket: Socket, headers: IncomingHttpHeaders): void {
    const hint = /timeout=(\d+)/.exec(String(headers['keep-alive'] ?? ''))?.[1]
    if (hint === undefined) this.#usableUntil.delete(socket)
    else this.#usableUntil.set(socket, performance.now() + Number(hint) * 1_000 - MARGIN_MS)
  }

  /** Closes the idle connections that the daemon has closed, or is about to. */
  closeStale(agent: Agent): void {
    const now = performance.now()
    for (const socket of idleOf(agent))
      if (now >= (this.#usableUntil.get(socket) ?? Number.POSITIVE_INFINITY)) socket.destroy()
  }

  /** Closes all idle connections: one of them was found dead, and the others are older. */
  closeAll(agent: Agent): void {
    for (const socket of idleOf(agent)) socket.destroy()
  }
}

function idleOf(agent: Agent): Socket[] {
  return Object.values(agent.freeSockets).flatMap((sockets) => sockets ?? [])
}
