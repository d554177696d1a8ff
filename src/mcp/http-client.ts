import type { Actor } from '../core/process/record.ts'
import { folderUnknown, rootsUnanswered } from './asked-folder.ts'
import { type McpClient, type Place, real, type Sessions, type Told } from './client.ts'
import { ConnectedSession, type Reader } from './connection.ts'
import type { Subject } from './request-subject.ts'
import type { McpSession } from './session.ts'

/** Who sends a request, as the server that was asked found out. */
export interface McpCaller {
  readonly role: 'read' | 'operate' | 'admin' | 'agent'
  readonly actor: Actor
  readonly tokenId: string | null
}

/** What tells where a client works, besides what it says of itself. */
export interface Whereabouts {
  /** From the URL or a header. */
  readonly folder: string | null
  /** Of a legacy connection; null for a request of the modern era, which stands for itself. */
  readonly reader: Reader | null
  /** Of that one request. */
  readonly subject: Subject
}

/** A client of which is remembered where it is, once that is known. */
export interface HttpClient extends McpClient {
  readonly placed: () => Promise<Place> | undefined
}

export function httpClient(sessions: Sessions, caller: McpCaller, where: Whereabouts): HttpClient {
  let placed: Promise<Place> | undefined
  return {
    era: where.reader === null ? 'modern' : 'legacy',
    readOnly: caller.role === 'read',
    placed: () => placed,
    place(told) {
      placed ??= placeOf(sessions, caller, where, told).catch((error: unknown) => {
        // It may be asked for its roots, or answer next time.
        placed = undefined
        throw error
      })
      return placed
    },
  }
}

/**
 * | what is known                     | its session                                    |
 * | its token is bound to a session   | that one                                       |
 * | its folder                        | of the client in that folder                   |
 * | its connection                    | of that connection alone                       |
 * | the cwd of a command              | of the client in that folder                   |
 * | the pid of a process              | the one that the process is in                 |
 * | nothing                           | none: two such clients could not be told apart |
 */
async function placeOf(
  sessions: Sessions,
  { actor }: McpCaller,
  { folder: asked, reader, subject }: Whereabouts,
  told: Told,
): Promise<Place> {
  const folder = asked ?? (await rootOf(told, reader))
  const place = (session: McpSession): Place => ({
    session: new ConnectedSession(session, { reader, environment: null }),
    folder,
  })
  if (actor.startsWith('session:')) return place(sessions.named(actor.slice('session:'.length)))
  if (folder !== null) return place(sessions.derived(told.clientName, folder, folder))
  if (reader !== null) return place(sessions.derived(told.clientName, `connection:${reader.id}`, null))
  if (subject.cwd !== undefined) {
    const cwd = real(subject.cwd)
    return place(sessions.derived(told.clientName, cwd, cwd))
  }
  const owner = subject.pid === undefined ? null : await sessions.ownerOf(subject.pid)
  if (owner === null) throw folderUnknown('It is not known whose processes are meant')
  return place(owner)
}

async function rootOf(told: Told, reader: Reader | null): Promise<string | null> {
  if (reader === null) return told.rootInAnswer()
  const root = await told.root()
  if (root === undefined) throw rootsUnanswered()
  return root
}
