import { createHash } from 'node:crypto'

/** Sessions that were opened for MCP clients, and so end when none of them was there for long. */
export const MCP_SESSION = 'mcp-'

/**
 * The session of a client in a place: the same one whenever it comes back. The place is its workspace folder, or, for
 * one that tells of none, whatever else tells it from others.
 */
export function sessionIdOf(clientName: string, place: string): string {
  const hash = createHash('sha256')
    .update(JSON.stringify([clientName, place]))
    .digest('hex')
  return `${MCP_SESSION}${hash.slice(0, 20)}`
}

/** A session that has ended stays so. Whoever comes back to it gets the next one: `mcp-…`, `mcp-….2`, `mcp-….3`. */
export function generationOf(base: string, generation: number): string {
  return generation === 1 ? base : `${base}.${generation}`
}

/** The session that this one is a generation of. */
export function baseOf(session: string): string {
  return session.replace(/\.[1-9][0-9]{0,8}$/, '')
}

export function generationIn(base: string, session: string): number {
  const rest = session.startsWith(`${base}.`) ? session.slice(base.length + 1) : ''
  return /^[1-9][0-9]{0,8}$/.test(rest) ? Number(rest) : 1
}
