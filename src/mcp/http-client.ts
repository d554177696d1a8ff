import type { Actor } from '../core/process/record.ts'
import type { Operator } from './approvals/operator.ts'
import { answersThrough, ELICITED } from './approvals/person-here.ts'
import { type ClientIdentity, type McpClient, realFolder, type Sessions, type Workspace } from './client.ts'
import { ConnectedSession, type Reader } from './connection.ts'
import { feedOf } from './feed-watch.ts'
import type { Subject } from './request-subject.ts'
import { folderUnknown, rootsUnanswered } from './requested-folder.ts'
import type { McpReeve, McpSession } from './session.ts'

/** The authenticated sender of a request. */
export interface McpCaller {
  readonly role: 'read' | 'operate' | 'admin' | 'agent'
  readonly actor: Actor
  readonly tokenId: string | null
  /** The person behind the caller. Of an agent's token: answers only by elicitation, and only as an `approver`. */
  readonly person?: `human:${string}` | null
  /** The person sits at the agent's client, and may be asked there. */
  readonly approver?: boolean
}

/** The origin of a request, apart from the client's own claims. */
export interface RequestOrigin {
  /** From the URL or a header. */
  readonly folder: string | null
  /** Identifies a legacy connection; null in the modern era, where each request stands alone. */
  readonly reader: Reader | null
  /** The parts of this request that determine its session. */
  readonly subject: Subject
}

/** A client that remembers its workspace once that is known. */
export interface HttpClient extends McpClient {
  readonly located: () => Promise<Workspace> | undefined
  /** The streams that a legacy client has open for requests and notifications of the server. */
  listeners: number
}

export function httpClient(
  { reeve, sessions }: { readonly reeve: McpReeve; readonly sessions: Sessions },
  caller: McpCaller,
  origin: RequestOrigin,
): HttpClient {
  let located: Promise<Workspace> | undefined
  const { person: name = null } = caller
  const isOperator = caller.actor === 'host' && OPERATORS.includes(caller.role)
  const client: HttpClient = {
    listeners: 0,
    isListening: () => client.listeners > 0,
    era: origin.reader === null ? 'modern' : 'legacy',
    readOnly: caller.role === 'read',
    person: async () =>
      caller.approver === true && name !== null
        ? { name, answering: answersThrough(reeve, name, ELICITED) }
        : null,
    ...(isOperator && name !== null ? { operator: operatorOf(reeve, name) } : {}),
    located: () => located,
    workspace(identity) {
      located ??= workspaceOf(sessions, caller, origin, identity).catch((error: unknown) => {
        // The next request may carry the roots, or the client may answer then.
        located = undefined
        throw error
      })
      return located
    },
  }
  return client
}

const OPERATORS: readonly McpCaller['role'][] = ['operate', 'admin']

/** Reads as the host, which sees everything, and answers as the person. */
function operatorOf(reeve: McpReeve, name: `human:${string}`): Operator {
  const answering = (sessions: readonly string[]) =>
    answersThrough(reeve, name, { sessions, elicited: false })
  return { name, acting: reeve, answering, feed: feedOf(reeve, reeve) }
}

/**
 * Finds the session by the first of these facts that is known:
 *
 * | fact                     | session                                            |
 * | token bound to a session | that session                                       |
 * | folder                   | the client's session in that folder                |
 * | connection               | a session of that connection alone                 |
 * | `cwd` of a command       | the client's session in that folder                |
 * | pid of a process         | the session that owns the process                  |
 * | none                     | refused: two such clients could not be told apart  |
 */
async function workspaceOf(
  sessions: Sessions,
  { actor }: McpCaller,
  { folder: asked, reader, subject }: RequestOrigin,
  identity: ClientIdentity,
): Promise<Workspace> {
  const folder = asked ?? (await rootOf(identity, reader))
  const withSession = (session: McpSession): Workspace => ({
    session: new ConnectedSession(session, { reader, environment: null }),
    folder,
  })
  if (actor.startsWith('session:')) return withSession(sessions.named(actor.slice('session:'.length), folder))
  if (folder !== null) return withSession(sessions.derived(identity.clientName, folder, folder))
  if (reader !== null)
    return withSession(sessions.derived(identity.clientName, `connection:${reader.id}`, null))
  if (subject.cwd !== undefined) {
    const cwd = realFolder(subject.cwd)
    return withSession(sessions.derived(identity.clientName, cwd, cwd))
  }
  const owner = subject.pid === undefined ? null : await sessions.ownerOf(subject.pid)
  if (owner === null) throw folderUnknown('The session of this request is unknown')
  return withSession(owner)
}

async function rootOf(identity: ClientIdentity, reader: Reader | null): Promise<string | null> {
  if (reader === null) return identity.rootInAnswer()
  const root = await identity.root()
  if (root === undefined) throw rootsUnanswered()
  return root
}
