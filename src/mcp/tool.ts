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
import { type McpClient, type Place, type Told, toldBy } from './client.ts'
import { plainSchema, published } from './input-schema.ts'
import { patienceOf } from './patience.ts'
import { type Progress, progressOf } from './progress.ts'
import { remedyFor } from './remedies.ts'
import { RootsWanted } from './roots.ts'
import { wantsStructured } from './structured.ts'
import { asTask, type Task, takesTasks } from './tasks.ts'
import { type Answer, resultOf } from './tool-result.ts'

/** A tool of the MCP door: arguments for a model, and the verbs that they become. */
export interface Tool<Input extends z.ZodObject = z.ZodObject> {
  readonly name: string
  readonly title: string
  /** For a model that has never seen Reeve: what it does, and when to use it. */
  readonly description: string
  /** Words that somebody would search for who needs it, for clients that load tools when they are found. */
  readonly searchHint: string
  /** To be loaded by such clients from the beginning. */
  readonly alwaysLoad?: true
  readonly input: Input
  readonly does: 'look' | 'change' | 'end' | 'restart'
  /** Starts the daemon where its user has stopped it; other tools say that it is stopped. */
  readonly startsDaemon?: true
  run(input: z.output<Input>, call: Call): Promise<Answer | GoesOn>
}

/** Instead of an answer, and only where the client takes tasks. */
export interface GoesOn {
  readonly task: Task
}

export interface Call extends Place, Progress {
  /** Aborted when the client cancelled the call, or went away. */
  readonly signal: AbortSignal
  readonly takesTasks: boolean
  /** The answer has structured content, which is not to be longer than the text may be. */
  readonly structured: boolean
  /** How many milliseconds are left until the client may give up on this call. */
  patienceLeft(): number
  /** Acts as the client's session, which is opened for it if the tool changes something. */
  perform<Done>(act: (acting: ReeveVerbs, session: string) => Promise<Done>): Promise<Done>
}

export function tool<Input extends z.ZodObject>(described: Tool<Input>): Tool<Input> {
  return described
}

const ANNOTATIONS: Record<Tool['does'], ToolAnnotations> = {
  look: { readOnlyHint: true, openWorldHint: false },
  change: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: true },
  end: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  restart: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
}

export function register<Input extends z.ZodObject>(
  server: McpServer,
  client: McpClient,
  described: Tool<Input>,
): void {
  const { name, title, description, input, does, searchHint, alwaysLoad } = described
  const plain = plainSchema(input)
  const _meta = {
    'anthropic/searchHint': searchHint,
    ...(alwaysLoad === undefined ? {} : { 'anthropic/alwaysLoad': true }),
  }
  const config = { title, description, annotations: ANNOTATIONS[does], inputSchema: published(plain), _meta }
  server.registerTool(name, config, async (given, ctx): Promise<CallToolResult | InputRequiredResult> => {
    const receivedAt = performance.now()
    try {
      const asked = checkedInput(name, input, given, plain)
      if (does !== 'look' && client.readOnly) throw readOnly(name)
      if (described.startsDaemon) await client.startDaemon?.()
      const told = toldBy(server, ctx)
      const structured = wantsStructured(client, ctx)
      const call = callOf(await client.place(told), { does, ctx, told, structured, receivedAt })
      const said = await described.run(asked, call)
      if ('task' in said) return asTask(said.task)
      return resultOf(said, structured)
    } catch (error) {
      // The client is asked for its roots, and the tool is called again with its answer.
      if (error instanceof RootsWanted) return error.question
      return failed(error)
    }
  })
}

interface Received {
  readonly does: Tool['does']
  readonly ctx: ServerContext
  readonly told: Told
  readonly structured: boolean
  readonly receivedAt: number
}

function callOf({ session, folder }: Place, { does, ctx, told, structured, receivedAt }: Received): Call {
  const patienceMs = patienceOf(told.clientName)
  return {
    session,
    folder,
    structured,
    signal: ctx.mcpReq.signal,
    takesTasks: takesTasks(ctx),
    patienceLeft: () => Math.max(0, Math.round(patienceMs - (performance.now() - receivedAt))),
    ...progressOf(ctx),
    perform: async (act) => (does === 'look' ? act(await session.acting(), session.id) : session.change(act)),
  }
}

/** What happened and what to do about it: a model can act on that, and on a protocol error it cannot. */
function failed(error: unknown): CallToolResult {
  if (!(error instanceof ReeveError)) throw error
  const text = `${error.message}\n${remedyFor(error)}\n(${error.code})`
  return { isError: true, content: [{ type: 'text', text }] }
}

function readOnly(name: string): ReeveError {
  return new ReeveError(
    'forbidden',
    `${name} changes something, and this client's token may only look.`,
    'Use a token with the role operate or agent.',
  )
}
