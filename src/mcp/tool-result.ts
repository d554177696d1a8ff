import type { CallToolResult } from '@modelcontextprotocol/server'

/** `text` is what the model reads; `structured` says the same to programs that asked for it. */
export interface Answer {
  readonly text: string
  readonly structured: object
}

export function resultOf({ text, structured }: Answer, wantsStructured: boolean): CallToolResult {
  const content = [{ type: 'text' as const, text }]
  return wantsStructured ? { content, structuredContent: { ...structured } } : { content }
}
