import { isAbsolute } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ReeveError } from '../core/errors.ts'
import { realFolder } from './client.ts'

const HEADER = 'reeve-folder'

/** The folder that a request names in its URL (`?folder=`) or in a header, as a path or a `file:` URL. */
export function requestedFolder(request: Request): string | null {
  const given = new URL(request.url).searchParams.get('folder') || request.headers.get(HEADER)
  if (given === null || given === '') return null
  const folder = pathOf(given)
  if (folder === null) throw notAbsolute(given)
  return realFolder(folder)
}

function pathOf(given: string): string | null {
  try {
    const path = given.startsWith('file:') ? fileURLToPath(given) : given
    return isAbsolute(path) && !path.includes('\0') ? path : null
  } catch {
    return null
  }
}

function notAbsolute(given: string): ReeveError {
  return new ReeveError(
    'bad_request',
    `The folder of an MCP client must be an absolute path; ${JSON.stringify(given)} is not one.`,
    'Give a path that begins with /, or a file: URL: /mcp?folder=/home/me/project.',
    { details: { folder: given } },
  )
}

const NAME_IT =
  'name the folder in the URL of the server (/mcp?folder=/path/of/project) or in the header Reeve-Folder.'

/** Without its roots the client would act in one session now and in another one later. No session is better. */
export function rootsUnanswered(): ReeveError {
  return new ReeveError(
    'folder_unknown',
    'This client declares roots but did not answer roots/list: its workspace folder is unknown.',
    `Try again in a moment. If it fails again, tell the user that the client does not answer roots/list; over HTTP, ${NAME_IT}`,
  )
}

/** The request that opens a stream of updates cannot be answered with a question. */
export function subscriptionFolderUnknown(): ReeveError {
  return new ReeveError(
    'folder_unknown',
    'A subscription needs the workspace folder and cannot ask the client for its roots.',
    `To subscribe, ${NAME_IT}`,
  )
}

/** For requests that need a folder, from a client that named none. */
export function folderUnknown(what: string): ReeveError {
  return new ReeveError(
    'folder_unknown',
    `${what}: this client named no workspace folder.`,
    `Give cwd to process_start, and a whole pid to the other tools. Better: ${NAME_IT}`,
  )
}
