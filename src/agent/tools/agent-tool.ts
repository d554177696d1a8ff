import type * as z from 'zod'
import type { ShownChange } from '../../core/approval/shown-change.ts'
import type { Need } from '../../core/capability/need.ts'
import type { Json, JsonObject } from '../../core/json/json.ts'
import type { PlanList } from '../../core/plan/plan-list.ts'
import type { Pid } from '../../core/process/pid.ts'
import type { ToolDeclaration } from '../../core/tool/declaration.ts'
import { defineTool } from '../../verbs/define-tool.ts'

/** A tool of native agents: declared to the model, ruled on by its needs, and run as a `tool` process. */
export interface AgentTool extends ToolDeclaration {
  /** It is declared before others. */
  readonly essential?: boolean
  /** It is declared after others. */
  readonly spare?: boolean
  /** It bounds its output itself, with paging, so that nothing of it is spilled. */
  readonly isBounded?: boolean
  /** How long a call may run; null: as long as it takes, because it waits for a process or a person. */
  readonly maxMs?: number | null
  /** Checks an input against the schema. Throws a `ToolError` that a model can act upon. */
  parse(input: unknown): Promise<unknown>
  /** The effects of a call with this input, for the gate. Paths are canonical. Throws a `ToolError` for a call that cannot be made. */
  needs(input: unknown): Promise<readonly Need[]>
  /** What a call with this input would make of a file, for the person who is asked; null if it would be refused. */
  preview?(input: unknown): Promise<ShownChange | null>
  run(input: unknown, context: AgentToolContext): Promise<ToolOutput>
  /** Of a tool whose calls run a script: which one. Such a call may leave memory, and `run` is not called. */
  script?(input: unknown): ScriptToRun
  /** The process of a call with this input, if it is that of another tool. */
  process?(input: JsonObject): { readonly tool: string; readonly input: JsonObject }
}

/** TypeScript, `export default async (args, reeve) => …`, and its first argument. */
export interface ScriptToRun {
  readonly source: string
  readonly args: Json
}

/** The parts of a call that its tool may use. */
export interface AgentToolContext {
  /** The pid of this call. */
  readonly pid: Pid
  readonly abortSignal: AbortSignal
  /** Of a call that writes: the size of the file that it was ruled on with. Absent for a call that a person has changed. */
  readonly ruledBytes?: number
}

/** The result of a call. */
export interface ToolOutput {
  /** The text for the model. */
  readonly parts: readonly OutputPart[]
  /** The files that it changed, so that the changes can be undone. */
  readonly changes?: readonly FileChange[]
  /** The files whose content it read, with the hash of that content. */
  readonly reads?: readonly { readonly path: string; readonly hash: string }[]
  /** The names of further tools that a search found. */
  readonly found?: readonly string[]
  /** The plan of the agent from now on. */
  readonly plan?: PlanList
  /** The part of a command's output that the text shows the end of. */
  readonly range?: OutputRange
}

/** Bytes of the output log of a command, by offset. */
export interface OutputRange {
  readonly pid: Pid
  readonly from: number
  readonly to: number
}

export type OutputPart =
  | { readonly type: 'text'; readonly text: string }
  /** `data` is base64. */
  | { readonly type: 'image'; readonly mediaType: string; readonly data: string }

export interface FileChange {
  /** Canonical. */
  readonly path: string
  /** The hash of the content before; null if the file was made. */
  readonly before: string | null
  readonly after: string
}

/** The tools of one agent, by name. */
export type ToolRegistry = ReadonlyMap<string, AgentTool>

export function toolRegistry(tools: readonly AgentTool[]): ToolRegistry {
  return new Map(tools.map((tool) => [tool.name, tool]))
}

export interface AgentToolToDefine<Schema extends z.ZodType> {
  readonly name: string
  readonly description: string
  readonly input: Schema
  readonly recovery: ToolDeclaration['recovery']
  readonly essential?: boolean
  readonly spare?: boolean
  readonly isBounded?: boolean
  readonly maxMs?: number | null
  needs?(input: z.output<Schema>): Promise<readonly Need[]> | readonly Need[]
  preview?(input: z.output<Schema>): Promise<ShownChange | null>
  run(input: z.output<Schema>, context: AgentToolContext): Promise<ToolOutput> | ToolOutput
}

/** Defines a tool of native agents. */
export function agentTool<Schema extends z.ZodType>(tool: AgentToolToDefine<Schema>): AgentTool {
  const { name, description, input, recovery, essential, spare, isBounded, maxMs } = tool
  const { preview } = tool
  const inputSchema = withoutPlainBounds(
    defineTool({ name, description, input, recovery, run: () => null }).inputSchema,
  )
  const parse = (given: unknown): z.output<Schema> => {
    const parsed = input.safeParse(given)
    if (parsed.success) return parsed.data
    const issues = parsed.error.issues.map(({ path, message }) =>
      path.length === 0 ? message : `${path.join('.')}: ${message}`,
    )
    throw new ToolError('invalid_input', `The input of ${name} is wrong: ${issues.join('; ')}`)
  }
  return {
    name,
    description,
    inputSchema,
    recovery,
    ...(essential === undefined ? {} : { essential }),
    ...(spare === undefined ? {} : { spare }),
    ...(isBounded === undefined ? {} : { isBounded }),
    ...(maxMs === undefined ? {} : { maxMs }),
    ...(preview === undefined ? {} : { preview: async (given) => preview(parse(given)) }),
    parse: async (given) => parse(given),
    needs: async (given) => (await tool.needs?.(parse(given))) ?? [],
    run: async (given, context) => tool.run(parse(given), context),
  }
}

/** Bounds that tell a model nothing take tokens of every prompt: a text is not empty, and an integer is a safe one. */
function withoutPlainBounds(schema: JsonObject): JsonObject {
  const isPlain = (key: string, value: Json) =>
    (key === 'minLength' && value === 1) || (key === 'maximum' && value === Number.MAX_SAFE_INTEGER)
  return JSON.parse(JSON.stringify(schema, (key, value: Json) => (isPlain(key, value) ? undefined : value)))
}

export type ToolErrorCode =
  | 'invalid_input'
  | 'outside_workspace'
  | 'workspace_gone'
  | 'not_found'
  | 'not_a_file'
  | 'not_a_folder'
  | 'not_text'
  | 'too_large'
  | 'not_read'
  | 'file_changed'
  | 'edit_refused'
  | 'path_held'
  | 'address_refused'
  | 'fetch_failed'
  | 'not_available'
  | 'refused'
  | 'timed_out'
  | 'io_error'
  /** A script threw an error, computed for too long, or used more than it may. */
  | 'script_failed'
  /** A script that ran again made other calls than before. */
  | 'script_diverged'
  /** The MCP server answered with an error, or its tool did. */
  | 'mcp_error'
  /** The MCP server is not there, does not answer, or cannot be understood. */
  | 'mcp_unavailable'
  /** The MCP server did not answer: whether the call had an effect is unknown. */
  | 'mcp_interrupted'
  /** The tool of an MCP server has changed, and no person has accepted it. */
  | 'mcp_tool_changed'

/** The failure of a tool. The message is for the model: what happened, and what to do next. */
export class ToolError extends Error {
  override readonly name = 'ToolError'
  readonly code: ToolErrorCode
  readonly details: Readonly<Record<string, unknown>>

  constructor(code: ToolErrorCode, message: string, details: Readonly<Record<string, unknown>> = {}) {
    super(message)
    this.code = code
    this.details = details
  }
}

export function textOutput(text: string): ToolOutput {
  return { parts: [{ type: 'text', text }] }
}
