import type {
  CallToolResult,
  InputRequiredResult,
  McpServer,
  ServerContext,
  ToolAnnotations,
} from '@modelcontextprotocol/server'
import type * as z from 'zod'
import { ReeveError } from '../core/errors.ts'
import type { ReeveVerbs } from '../verbs/reeve.ts'
import { checkedInput } from './check-input.ts'
import { type ClientIdentity, identityOf, type McpClient, type Workspace } from './client.ts'
import { clientTimeoutMs } from './client-timeout.ts'
import { plainSchema, published } from './input-schema.ts'
import { type Progress, progressOf } from './progress.ts'
import { remedyFor } from './remedies.ts'
import { RootsRequired } from './roots.ts'
import { wantsStructured } from './structured.ts'
import { asTask, type Task, takesTasks } from './tasks.ts'
import { type Answer, resultOf } from './tool-result.ts'

/** An MCP tool: arguments for a model, and the verbs that they are translated to. */
export interface Tool<Input extends z.ZodObject = z.ZodObject> {
  readonly name: string
  readonly title: string
  /** For a model that has never seen Reeve: the effect of the tool, and when to use it. */
  readonly description: string
  /** Search terms, for clients that load tools on demand. */
  readonly searchHint: string
  /** Such clients load it from the beginning. */
  readonly alwaysLoad?: true
  readonly input: Input
  readonly effect: 'read' | 'change' | 'end' | 'restart'
  /** Starts a daemon that the user has stopped; other tools report that it is stopped. */
  readonly startsDaemon?: true
  run(input: z.output<Input>, call: Call): Promise<Answer | TaskAnswer>
}

/** Replaces an answer, for clients that know tasks. */
export interface TaskAnswer {
  readonly task: Task
}

export interface Call extends Workspace, Progress {
  /** Aborted when the client cancels the call or disconnects. */
  readonly signal: AbortSignal
  readonly takesTasks: boolean
  /** The answer has structured content, which must not be longer than the text may be. */
  readonly structured: boolean
  /** Milliseconds until the client may give up on this call. */
  msLeft(): number
  /** Acts as the client's session. A tool that changes something opens it. */
  perform<Done>(act: (acting: ReeveVerbs, session: string) => Promise<Done>): Promise<Done>
}

export function tool<Input extends z.ZodObject>(described: Tool<Input>): Tool<Input> {
  return described
}

const ANNOTATIONS: Record<Tool['effect'], ToolAnnotations> = {
  read: { readOnlyHint: true, openWorldHint: false },
  change: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: true },
  end: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  restart: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
}

export function register<Input extends z.ZodObject>(
  server: McpServer,
  client: McpClient,
  described: Tool<Input>,
): void {
  const { name, title, description, input, effect, searchHint, alwaysLoad } = described
  const plain = plainSchema(input)
  const _meta = {
    'anthropic/searchHint': searchHint,
    ...(alwaysLoad === undefined ? {} : { 'anthropic/alwaysLoad': true }),
  }
  const config = {
    title,
    description,
    annotations: ANNOTATIONS[effect],
    inputSchema: published(plain),
    _meta,
  }
  server.registerTool(name, config, async (given, ctx): Promise<CallToolResult | InputRequiredResult> => {
    const receivedAt = performance.now()
    try {
      const asked = checkedInput(name, input, given, plain)
      if (effect !== 'read' && client.readOnly) throw readOnly(name)
      if (described.startsDaemon) await client.startDaemon?.()
      const identity = identityOf(server, ctx)
      const structured = wantsStructured(client, ctx)
      const call = callOf(await client.workspace(identity), { effect, ctx, identity, structured, receivedAt })
      const said = await described.run(asked, call)
      if ('task' in said) return asTask(said.task)
      return resultOf(said, structured)
    } catch (error) {
      // The client answers with its roots and calls the tool again.
      if (error instanceof RootsRequired) return error.question
      return failed(error)
    }
  })
}

interface Received {
  readonly effect: Tool['effect']
  readonly ctx: ServerContext
  readonly identity: ClientIdentity
  readonly structured: boolean
  readonly receivedAt: number
}

function callOf(
  { session, folder }: Workspace,
  { effect, ctx, identity, structured, receivedAt }: Received,
): Call {
  const timeoutMs = clientTimeoutMs(identity.clientName)
  return {
    session,
    folder,
    structured,
    signal: ctx.mcpReq.signal,
    takesTasks: takesTasks(ctx),
    msLeft: () => Math.max(0, Math.round(timeoutMs - (performance.now() - receivedAt))),
    ...progressOf(ctx),
    perform: async (act) =>
      effect === 'read' ? act(await session.acting(), session.id) : session.change(act),
  }
}

/** What happened and what to do about it. A model can act on that, but not on a protocol error. */
function failed(error: unknown): CallToolResult {
  if (!(error instanceof ReeveError)) throw error
  const text = `${error.message}\n${remedyFor(error)}\n(${error.code})`
  return { isError: true, content: [{ type: 'text', text }] }
}

function readOnly(name: string): ReeveError {
  return new ReeveError(
    'forbidden',
    `${name} changes something, and this client's token may only read.`,
    'Use a token with the role operate or agent.',
  )
}
