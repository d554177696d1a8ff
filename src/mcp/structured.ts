import type { ServerContext } from '@modelcontextprotocol/server'
import type { McpClient } from './client.ts'

/** In `_meta` of a call: this answer has structured content, too. */
const STRUCTURED_META_KEY = 'reeve/structured'
/** In the URL of the HTTP server: every answer has structured content. */
const QUERY = 'structured'

/**
 * Whether an answer has structured content beside its text. Only on request: most agents show their model nothing but the
 * structured content if there is any, and the text is written for the model.
 */
export function wantsStructured(
  { structured = false }: Pick<McpClient, 'structured'>,
  ctx: ServerContext,
): boolean {
  if (structured || ctx.mcpReq._meta?.[STRUCTURED_META_KEY] === true) return true
  const url = ctx.http?.req?.url
  return url !== undefined && ['1', 'true'].includes(new URL(url).searchParams.get(QUERY) ?? '')
}
