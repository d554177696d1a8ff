import type { Actor } from '../core/process/record.ts'
import type { McpClient, Place, Sessions, Told } from './client.ts'

/** Who sends a request, as the server that was asked found out. */
export interface McpCaller {
  readonly role: 'read' | 'operate' | 'admin' | 'agent'
  readonly actor: Actor
  readonly tokenId: string | null
}

/** A client of which is remembered where it is, once that is known. */
export interface HttpClient extends McpClient {
  readonly placed: () => Promise<Place> | undefined
}

export function httpClient(sessions: Sessions, caller: McpCaller, era: McpClient['era']): HttpClient {
  let placed: Promise<Place> | undefined
  return {
    era,
    readOnly: caller.role === 'read',
    placed: () => placed,
    place(told) {
      placed ??= placeOf(sessions, caller, told)
      return placed
    },
  }
}

async function placeOf(sessions: Sessions, { actor, tokenId }: McpCaller, told: Told): Promise<Place> {
  const folder = await told.root()
  if (actor.startsWith('session:')) {
    return { session: sessions.named(actor.slice('session:'.length)), folder }
  }
  // Without a folder the token tells one user of a client from another.
  const place = folder ?? `token:${tokenId ?? ''}`
  return { session: sessions.derived(told.clientName, place, folder), folder }
}
