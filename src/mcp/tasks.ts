import {
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  INVALID_PARAMS,
  type JSONRPCRequest,
  type McpServer,
  MissingRequiredClientCapabilityError,
  ProtocolError,
  type Result,
  type ServerContext,
} from '@modelcontextprotocol/server'
import * as z from 'zod'

/** The protocol extension that allows a tool call to answer with a handle and go on. */
export const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks'

/** The handle of a call that goes on, with the protocol's names. */
export interface Task {
  readonly taskId: string
  readonly status: 'working' | 'input_required' | 'completed' | 'failed' | 'cancelled'
  readonly statusMessage?: string
  readonly createdAt: string
  readonly lastUpdatedAt: string
  /** How long the task can be queried; null: until its process is pruned. */
  readonly ttlMs: number | null
  readonly pollIntervalMs: number
}

/** A task with its result, its error or its questions. */
export interface TaskDetails extends Task {
  readonly result?: CallToolResult
  readonly error?: { readonly code: number; readonly message: string }
  readonly inputRequests?: Readonly<Record<string, unknown>>
}

/** Finds tasks. A client sees only its own. */
export interface TaskSource {
  /** Null: this client has no task with this id. */
  find(taskId: string, ctx: ServerContext): Promise<TaskDetails | null>
  /** The client waits for the task no longer. */
  cancel?(taskId: string, ctx: ServerContext): Promise<void>
  answer?(taskId: string, responses: Readonly<Record<string, unknown>>): void
}

/** Whether this request declares that its client knows tasks; only then may the answer be one. */
export function takesTasks({ mcpReq }: ServerContext): boolean {
  const declared: unknown = Object.entries(mcpReq.envelope ?? {}).find(
    ([key]) => key === CLIENT_CAPABILITIES_META_KEY,
  )?.[1]
  return TASKS_EXTENSION in Object(Object(declared).extensions)
}

export function demandTasks(ctx: ServerContext): void {
  if (takesTasks(ctx)) return
  const requiredCapabilities = { extensions: { [TASKS_EXTENSION]: {} } }
  throw new MissingRequiredClientCapabilityError({ requiredCapabilities })
}

/** The answer of a tool whose call goes on as a task. */
export function asTask(task: Task): CallToolResult {
  return { content: [], _meta: { [HANDLE]: task } }
}

const HANDLE = 'reeve/task'

/** Call it after all tools are registered, in the modern era: the legacy era has no such tasks. */
export function serveTasks(server: McpServer, source: TaskSource): void {
  server.server.registerCapabilities({ extensions: { [TASKS_EXTENSION]: {} } })
  const call = toolCallsOf(server)
  server.server.setRequestHandler('tools/call', async (request, ctx) => {
    const result = await call({ jsonrpc: '2.0', id: ctx.mcpReq.id, ...request }, ctx)
    const task = result._meta?.[HANDLE]
    return (task === undefined ? result : { resultType: 'task', ...Object(task) }) as CallToolResult
  })

  const found = async (taskId: string, ctx: ServerContext) => {
    demandTasks(ctx)
    const task = await source.find(taskId, ctx)
    if (task === null) throw new ProtocolError(INVALID_PARAMS, `There is no task ${taskId}.`)
    return task
  }
  const params = z.looseObject({ taskId: z.string() })
  server.server.setRequestHandler('tasks/get', { params }, async ({ taskId }, ctx) => {
    return withResultType(await found(taskId, ctx))
  })
  server.server.setRequestHandler('tasks/cancel', { params }, async ({ taskId }, ctx) => {
    await found(taskId, ctx)
    await source.cancel?.(taskId, ctx)
    return {}
  })
  server.server.setRequestHandler('tasks/update', { params }, async ({ taskId }, ctx) => {
    await found(taskId, ctx)
    // The SDK moves them out of the parameters, for every method.
    source.answer?.(taskId, ctx.mcpReq.inputResponses ?? {})
    return {}
  })
}

type Calls = (request: JSONRPCRequest, ctx: ServerContext) => Promise<Result>

/** The SDK lets a tool answer with a result only. So this takes the SDK's handler and wraps it. */
export function toolCallsOf({ server }: McpServer): Calls {
  // Element access, because the method is protected.
  const calls: Calls | undefined = server['_getRequestHandler']('tools/call')
  if (calls === undefined) throw new Error('There are no tools yet.')
  return calls
}

/** A result within a task carries its own result type, so that clients read it like an answer. */
function withResultType({ result, ...task }: TaskDetails): Result {
  return { ...task, ...(result === undefined ? {} : { result: { resultType: 'complete', ...result } }) }
}
