import type { Ending } from '../core/process/intent.ts'
import { encode } from '../core/value/encode.ts'
import { unstorable } from '../core/value/stored-value.ts'
import type { ToolContext, ToolHandler } from '../verbs/tool-function.ts'

/** Runs a handler. Its result is the end of the process; an error that it throws is the caller's. */
export async function runHandler(handler: ToolHandler, context: ToolContext): Promise<Ending> {
  const encoded = encode((await handler(context)) ?? null)
  if (encoded.type === 'encoded') return { status: 'completed', result: encoded.json }
  const { code, message } = unstorable("The tool's result", encoded.why)
  return { status: 'failed', reason: message, result: { error: message, code } }
}
