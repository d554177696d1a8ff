import type { JsonObject } from '../json/json.ts'
import type { Recovery } from '../process/record.ts'

/** A tool as its callers see it: what a model is told about it, and what may follow a lost call. */
export interface ToolDeclaration {
  readonly name: string
  readonly description: string
  /** The JSON Schema of its input. */
  readonly inputSchema: JsonObject
  /** `rerunnable`: a call whose program died may run again. `bound`: its effects must not happen twice. */
  readonly recovery: Extract<Recovery, 'bound' | 'rerunnable'>
}

/** Model providers accept these names and no others. */
const TOOL_NAME = /^[A-Za-z0-9_-]{1,64}$/

export function isToolName(name: unknown): name is string {
  return typeof name === 'string' && TOOL_NAME.test(name)
}
