import { randomUUID } from 'node:crypto'
import { type Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import {
  createTaskSessionFromClient,
  type RawClientDispatch,
  resultFromTaskOutcome,
  type SerializedTaskReference,
  type TaskEnabledSession,
  type ToolExecution,
} from '@modelcontextprotocol/ext-tasks/client'
import { onTestFinished } from 'vitest'
import { TASKS_EXTENSION } from '../../src/mcp/tasks.ts'
import { clientOf } from './connected.ts'

const protocolVersion = '2026-07-28'
const clientCapabilities = { extensions: { [TASKS_EXTENSION]: {} } }

type Message = Parameters<RawClientDispatch>[0]

/** The URL and the token of an MCP server. */
export interface Server {
  readonly url: string
  readonly token: string
}

/** The SDK's client with the tasks extension, as in a host. */
export class TaskClient {
  readonly session: TaskEnabledSession
  readonly #client: Client

  private constructor(client: Client, session: TaskEnabledSession) {
    this.#client = client
    this.session = session
  }

  static async at(server: Server): Promise<TaskClient> {
    const headers = { authorization: `Bearer ${server.token}` }
    const client = clientOf({ era: 'modern', capabilities: clientCapabilities })
    const url = new URL(server.url)
    await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }))
    const session = createTaskSessionFromClient(client, {
      endpointId: 'reeve',
      rawDispatch: (request, options) =>
        sent(server, request, options?.context?.headers ?? {}, options?.signal),
      v2RequestFraming: { protocolVersion, clientInfo: { name: 'tester', version: '1' }, clientCapabilities },
    })
    onTestFinished(() => session.close().catch(() => undefined))
    return new TaskClient(client, session)
  }

  /** Starts a task; returns its id, too. */
  async task(tool: string, given: Parameters<TaskEnabledSession['callTool']>[1]): Promise<TaskOf> {
    const run = await this.session.callTool(tool, given)
    if (run.kind !== 'task') throw new Error(`${tool} was answered at once.`)
    return { run, reference: run.serializeReference(), taskId: run.handle.taskId }
  }

  /** Closes as hosts do, which cancels pending tasks. */
  async close(): Promise<void> {
    await this.session.close()
    await this.#client.close()
  }
}

type Run = ToolExecution<unknown>

interface TaskOf {
  readonly run: Run
  readonly reference: SerializedTaskReference
  readonly taskId: string
}

/** The result of a task. */
export async function resultOf(run: Run) {
  const { outcome } = await run.settle()
  const { structuredContent, content } = resultFromTaskOutcome(outcome) as {
    readonly structuredContent: unknown
    readonly content: readonly { readonly text?: string }[]
  }
  const [first] = content
  // biome-ignore lint/suspicious/noExplicitAny: a test reads the raw answer
  return { structured: structuredContent as any, text: first?.text ?? '' }
}

/** One raw request, by default of a client that knows tasks. */
export async function asked(
  server: Server,
  method: string,
  params: Record<string, unknown>,
  capabilities: object = clientCapabilities,
) {
  return sent(server, { method, params: { ...params, _meta: envelope(capabilities) } } as Message, {})
}

/** The client's metadata in a request. */
export function envelope(capabilities: object = clientCapabilities) {
  return {
    'io.modelcontextprotocol/protocolVersion': protocolVersion,
    'io.modelcontextprotocol/clientInfo': { name: 'tester', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': capabilities,
  }
}

async function sent(
  { url, token }: Server,
  request: Message,
  more: Readonly<Record<string, string>>,
  signal?: AbortSignal,
) {
  const { method, params } = request as {
    method: string
    params: { readonly taskId?: string; readonly name?: string }
  }
  const headers = new Headers({
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    authorization: `Bearer ${token}`,
    'mcp-protocol-version': protocolVersion,
    'mcp-method': method,
    'mcp-name': params.taskId ?? params.name ?? '',
  })
  for (const [name, value] of Object.entries(more)) headers.set(name, value)
  const response = await fetch(url, {
    method: 'POST',
    headers,
    body: JSON.stringify({ jsonrpc: '2.0', id: randomUUID(), ...Object(request) }),
    ...(signal === undefined ? {} : { signal }),
  })
  const message = (await response.json()) as { readonly result?: object; readonly error?: object }
  return 'error' in message
    ? { kind: 'error' as const, error: message.error as { code: number; message: string } }
    : // biome-ignore lint/suspicious/noExplicitAny: a test reads the raw answer
      { kind: 'result' as const, result: message.result as any }
}
