import { ReeveError } from '../../core/errors.ts'
import type { ClientIdentity, McpClient } from '../client.ts'
import { baseOf, MCP_SESSION } from '../session-id.ts'

/**
 * The sessions in which the model of this client acts: ids, or beginnings with `*`. A client without a
 * folder has a session for each connection, or for each folder that its commands name: every session of an MCP client may be its own.
 */
export async function ownSessions(client: McpClient, identity: ClientIdentity): Promise<readonly string[]> {
  try {
    const { session, folder } = await client.workspace(identity)
    if (!session.id.startsWith(MCP_SESSION)) return [session.id]
    return [folder === null ? `${MCP_SESSION}*` : `${baseOf(session.id)}*`]
  } catch (error) {
    if (error instanceof ReeveError && error.code === 'folder_unknown') return [`${MCP_SESSION}*`]
    throw error
  }
}
