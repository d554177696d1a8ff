import type { Json } from '../../core/json/json.ts'
import { objectOf } from '../../core/json/json.ts'
import type { Connection } from './connection.ts'
import { McpFailure } from './mcp-failure.ts'
import { type Negotiated, paramsIn } from './protocol.ts'
import { type ToolDefinition, toolDefinition } from './tool-definition.ts'

const MAX_TOOLS = 1_000
const MAX_PAGES = 100

export interface ListedTools {
  readonly tools: readonly ToolDefinition[]
  /** Definitions that are left out: unusable, of the same name as another one, or too many. */
  readonly omitted: number
}

/** All pages of `tools/list`. */
export async function listTools(
  connection: Connection,
  { era, capabilities }: Negotiated,
  options: { readonly newId: () => string; readonly timeoutMs: number; readonly signal: AbortSignal },
): Promise<ListedTools> {
  const found = new Map<string, ToolDefinition>()
  let omitted = 0
  let cursor: Json | undefined
  if (capabilities['tools'] === undefined) return { tools: [], omitted }
  const { newId, ...request } = options
  for (let page = 0; page < MAX_PAGES; page++) {
    const params = paramsIn(era, cursor === undefined ? {} : { cursor })
    const { tools, nextCursor } = await connection.request(newId(), 'tools/list', params, request)
    if (!Array.isArray(tools)) throw new McpFailure('unusable', 'Its answer to tools/list has no tools.')
    for (const given of tools) {
      const tool = toolDefinition(objectOf(given))
      if (tool === undefined || found.has(tool.name) || found.size >= MAX_TOOLS) omitted += 1
      else found.set(tool.name, tool)
    }
    cursor = nextCursor
    if (typeof cursor !== 'string') break
  }
  return { tools: [...found.values()], omitted }
}
