import type { ServerContext } from '@modelcontextprotocol/server'
import type { McpClient } from './client.ts'

/** In `_meta` of a call: this answer with structured content, too. */
const STRUCTURED_META_KEY = 'reeve/structured'
/** In the URL of the HTTP server: every answer. */
const QUERY = 'structured'

/**
 * Whether an answer has structured content beside its text. Only for whoever asks: most agents show their model nothing but
 * structured content where there is some, and the text is what was written for it.
 */
export function wantsStructured(
  { structured = false }: Pick<McpClient, 'structured'>,
  ctx: ServerContext,
): boolean {
  if (structured || ctx.mcpReq._meta?.[STRUCTURED_META_KEY] === true) return true
  const url = ctx.http?.req?.url
  return url !== undefined && ['1', 'true'].includes(new URL(url).searchParams.get(QUERY) ?? '')
}
