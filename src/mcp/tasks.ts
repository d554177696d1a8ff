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

/** The extension of the protocol by which a tool call may be answered with a handle, and go on. */
export const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks'

/** The handle of a call that goes on, in the words of the protocol. */
export interface Task {
  readonly taskId: string
  readonly status: 'working' | 'input_required' | 'completed' | 'failed' | 'cancelled'
  readonly statusMessage?: string
  readonly createdAt: string
  readonly lastUpdatedAt: string
  /** For how long it can be asked for; null where nothing but pruning ends that. */
  readonly ttlMs: number | null
  readonly pollIntervalMs: number
}

/** A task with what came of it, or what it asks for. */
export interface TaskDetails extends Task {
  readonly result?: CallToolResult
  readonly error?: { readonly code: number; readonly message: string }
  readonly inputRequests?: Readonly<Record<string, unknown>>
}

/** Where tasks are found again. Whoever asks sees their own and no others. */
export interface TaskSource {
  /** Null: there is none of this id for this client. */
  find(taskId: string, ctx: ServerContext): Promise<TaskDetails | null>
  /** Nobody waits for it any more. */
  cancel?(taskId: string, ctx: ServerContext): Promise<void>
  answer?(taskId: string, responses: Readonly<Record<string, unknown>>): void
}

/** Whether this very request says that its client knows tasks; only then may it be answered with one. */
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

/** What a tool answers with when its call goes on as a task. */
export function asTask(task: Task): CallToolResult {
  return { content: [], _meta: { [HANDLE]: task } }
}

const HANDLE = 'reeve/task'

/** To be called when all tools are registered, for the modern era: the older one has no such tasks. */
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
    // The SDK takes them out of the parameters, of every method.
    source.answer?.(taskId, ctx.mcpReq.inputResponses ?? {})
    return {}
  })
}

type Calls = (request: JSONRPCRequest, ctx: ServerContext) => Promise<Result>

/** The SDK has no way to answer for one of its tools with anything but a result, so its handler is taken and called. */
export function toolCallsOf({ server }: McpServer): Calls {
  const inside = server as unknown as { _getRequestHandler(method: string): Calls | undefined }
  const calls = inside._getRequestHandler('tools/call')
  if (calls === undefined) throw new Error('There are no tools yet.')
  return calls
}

/** A result that lies in a task says of itself that it is one: clients read it as they would read an answer. */
function withResultType({ result, ...task }: TaskDetails): Result {
  return { ...task, ...(result === undefined ? {} : { result: { resultType: 'complete', ...result } }) }
}
