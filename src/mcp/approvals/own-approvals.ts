import { ReeveError } from '../../core/errors.ts'
import { type ClientIdentity, type McpClient, realFolder } from '../client.ts'
import { baseOf, sessionIdOf } from '../session-id.ts'
import type { Approval } from './find-approval.ts'

/**
 * Refuses to answer what this client has asked for itself: its model starts commands in a session of its own, and would approve
 * its own acts. A request without a folder has a session by the folder of its command.
 */
export async function refuseOwn(
  { id, request }: Approval,
  client: McpClient,
  identity: ClientIdentity,
): Promise<void> {
  const { session } = request
  if (session === null) return
  const cwd = request.type === 'permission' ? request.action.cwd : null
  const own = [
    await ownSession(client, identity),
    cwd !== null ? sessionIdOf(identity.clientName, realFolder(cwd)) : null,
  ]
  if (!own.includes(baseOf(session)) && !own.includes(session)) return
  throw new ReeveError(
    'forbidden',
    `This client asked for ${id} itself, and does not answer its own requests.`,
    `The person answers it elsewhere: reeve approve ${id}.`,
    { details: { approval: id } },
  )
}

async function ownSession(client: McpClient, identity: ClientIdentity): Promise<string | null> {
  try {
    return baseOf((await client.workspace(identity)).session.id)
  } catch (error) {
    if (error instanceof ReeveError && error.code === 'folder_unknown') return null
    throw error
  }
}
