import { isAbsolute } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ReeveError } from '../core/errors.ts'
import { real } from './client.ts'

const HEADER = 'reeve-folder'

/** The folder that a client names in the URL (`?folder=`) or in a header, as a path or a `file:` URL. */
export function askedFolder(request: Request): string | null {
  const given = new URL(request.url).searchParams.get('folder') || request.headers.get(HEADER)
  if (given === null || given === '') return null
  const folder = pathOf(given)
  if (folder === null) throw notAbsolute(given)
  return real(folder)
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
    `The folder of an MCP client must be an absolute path, and ${JSON.stringify(given)} is not.`,
    'Give a path that begins with /, or a file: URL: /mcp?folder=/home/me/project.',
    { details: { folder: given } },
  )
}

const NAME_IT =
  'name the folder in the URL of the server (/mcp?folder=/path/of/project) or in the header Reeve-Folder.'

/** A client has roots, and did not say which: to act in another session than the next time would be worse than to act in none. */
export function rootsUnanswered(): ReeveError {
  return new ReeveError(
    'folder_unknown',
    'This client declares roots, and did not answer when it was asked for them: its workspace folder is not known.',
    `Try again in a moment. If that does not help, tell the user that the client does not answer roots/list; over HTTP, ${NAME_IT}`,
  )
}

/** A stream of updates is opened by a request that cannot be answered with a question for the roots. */
export function subscriptionFolderUnknown(): ReeveError {
  return new ReeveError(
    'folder_unknown',
    'A subscription needs to know the workspace folder, and cannot ask the client for its roots.',
    `To subscribe, ${NAME_IT}`,
  )
}

/** For what a client without a folder asks for, where only a folder would tell. */
export function folderUnknown(what: string): ReeveError {
  return new ReeveError(
    'folder_unknown',
    `${what}: this client tells of no workspace folder.`,
    `Give cwd to process_start, and the pid of a process elsewhere. Better: ${NAME_IT}`,
  )
}
