import { fileURLToPath } from 'node:url'
import {
  CLIENT_CAPABILITIES_META_KEY,
  type InputRequests,
  inputRequired,
  inputResponse,
  type McpServer,
  type ServerContext,
} from '@modelcontextprotocol/server'
import { InputRequired } from './input-required.ts'

const ROOTS_MS = 5_000
const KEY = 'roots'
/** Requests of the modern era that can be answered with a question. */
const MAY_ASK: readonly string[] = ['tools/call', 'resources/read']

/** Asks the client for its roots, in the legacy era; returns the first. Null: it has none. Undefined: it did not answer. */
export async function rootByRequest(
  server: McpServer,
  ctx: ServerContext | undefined,
): Promise<string | null | undefined> {
  const hasRoots = server.server.getClientCapabilities()?.roots !== undefined
  if (!hasRoots || ctx?.mcpReq.envelope !== undefined) return null
  try {
    const options = { timeout: ROOTS_MS }
    const { roots } =
      ctx === undefined
        ? await server.server.listRoots({}, options)
        : await ctx.mcpReq.send({ method: 'roots/list' }, options)
    return folderIn(roots)
  } catch {
    return undefined
  }
}

/** The first root from the answer of a modern client; throws the question if the client has not been asked yet. */
export function rootInAnswer({ mcpReq }: ServerContext): string | null {
  const answer = inputResponse(mcpReq.inputResponses, KEY)
  if (answer.kind === 'roots') return folderIn(answer.roots)
  const declared: unknown = Object.entries(mcpReq.envelope ?? {}).find(
    ([key]) => key === CLIENT_CAPABILITIES_META_KEY,
  )?.[1]
  if (mcpReq.inputResponses !== undefined || Object(declared).roots === undefined) return null
  if (!MAY_ASK.includes(mcpReq.method)) return null
  throw new InputRequired(askRoots())
}

/** A repeated call has the answers of its last question only: a question to a client that was asked for its roots asks again. */
export function rootsAgain({ mcpReq }: ServerContext): InputRequests {
  return inputResponse(mcpReq.inputResponses, KEY).kind === 'roots' ? askRoots() : {}
}

function askRoots(): InputRequests {
  return { [KEY]: inputRequired.listRoots() }
}

function folderIn(roots: readonly { readonly uri: string }[]): string | null {
  const folder = roots.find(({ uri }) => uri.startsWith('file://'))
  try {
    return folder === undefined ? null : fileURLToPath(folder.uri)
  } catch {
    // A file: URL of another host.
    return null
  }
}
