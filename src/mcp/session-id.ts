import { createHash } from 'node:crypto'

/** The prefix of sessions that were opened for MCP clients; they end when their clients are away for long. */
export const MCP_SESSION = 'mcp-'

/**
 * The session id of a client: the same whenever it comes back. `distinction` is its workspace folder, or for a client
 * without one another fact that distinguishes it from others.
 */
export function sessionIdOf(clientName: string, distinction: string): string {
  const hash = createHash('sha256')
    .update(JSON.stringify([clientName, distinction]))
    .digest('hex')
  return `${MCP_SESSION}${hash.slice(0, 20)}`
}

/** An ended session stays ended. A client that comes back gets the next generation: `mcp-…`, `mcp-….2`, `mcp-….3`. */
export function generationOf(base: string, generation: number): string {
  return generation === 1 ? base : `${base}.${generation}`
}

/** The id without its generation. */
export function baseOf(session: string): string {
  return session.replace(/\.[1-9][0-9]{0,8}$/, '')
}

export function generationIn(base: string, session: string): number {
  const rest = session.startsWith(`${base}.`) ? session.slice(base.length + 1) : ''
  return /^[1-9][0-9]{0,8}$/.test(rest) ? Number(rest) : 1
}
