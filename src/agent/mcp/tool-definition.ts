import { createHash } from 'node:crypto'
import { canonical } from '../../core/json/canonical.ts'
import { type Json, type JsonObject, objectOf } from '../../core/json/json.ts'
import { isToolName } from '../../core/tool/declaration.ts'

/** A tool as a server defines it. */
export interface ToolDefinition {
  readonly name: string
  readonly description: string
  readonly inputSchema: JsonObject
  readonly isReadOnly: boolean
  /** The hash of all texts about it that a model or a person reads. */
  readonly hash: string
}

const MAX_NAME_CHARS = 1_000
const MAX_DESCRIPTION_CHARS = 8_000

/** Undefined for a value that defines no tool. */
export function toolDefinition(given: JsonObject): ToolDefinition | undefined {
  const { name, description, inputSchema, annotations } = given
  if (typeof name !== 'string' || name === '' || name.length > MAX_NAME_CHARS) return undefined
  const schema = objectOf(inputSchema)
  if (schema['type'] !== 'object') return undefined
  return {
    name,
    description: typeof description === 'string' ? description.slice(0, MAX_DESCRIPTION_CHARS) : name,
    inputSchema: schema,
    isReadOnly: objectOf(annotations)['readOnlyHint'] === true,
    hash: hashOf([name, description ?? null, inputSchema ?? null, annotations ?? null]),
  }
}

function hashOf(value: Json): string {
  return createHash('sha256').update(canonical(value)).digest('hex').slice(0, 32)
}

const MAX_TOOL_NAME_CHARS = 64
const SUFFIX_CHARS = 8

/** The names of tools for models: unique, and of characters that providers accept. They depend on the server and the name alone. */
export function agentToolName(server: string, tool: string): string {
  const plain = `mcp__${server}__${tool}`
  const isName: boolean = isToolName(plain)
  if (isName) return plain
  const suffix = createHash('sha256').update(plain).digest('hex').slice(0, SUFFIX_CHARS)
  const cleaned = plain.replaceAll(/[^A-Za-z0-9_-]/g, '_')
  return `${cleaned.slice(0, MAX_TOOL_NAME_CHARS - SUFFIX_CHARS - 1)}_${suffix}`
}
