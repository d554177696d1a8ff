import type {
  CallToolResult,
  InputRequiredResult,
  McpServer,
  ServerContext,
  ToolAnnotations,
} from '@modelcontextprotocol/server'
import type * as z from 'zod'
import { ReeveError } from '../core/errors.ts'
import type { Acting } from '../verbs/reeve.ts'
import { type McpClient, type Place, toldBy } from './client.ts'
import { type Progress, progressOf } from './progress.ts'
import { RootsWanted } from './roots.ts'
import { asTask, type Task, takesTasks } from './tasks.ts'

/** A tool of the MCP door: arguments for a model, and the verbs that they become. */
export interface Tool<Input extends z.ZodObject = z.ZodObject, Output extends z.ZodObject = z.ZodObject> {
  readonly name: string
  readonly title: string
  /** For a model that has never seen Reeve: what it does, and when to use it. */
  readonly description: string
  readonly input: Input
  readonly output: Output
  readonly does: 'look' | 'change' | 'end'
  run(input: z.output<Input>, call: Call): Promise<Answer<z.output<Output>> | GoesOn>
}

/** `text` is what the model reads; `structured` says the same to programs. */
export interface Answer<Structured> {
  readonly structured: Structured
  readonly text: string
}

/** Instead of an answer, and only where the client takes tasks. */
export interface GoesOn {
  readonly task: Task
}

export interface Call extends Place, Progress {
  /** Aborted when the client cancelled the call, or went away. */
  readonly signal: AbortSignal
  readonly takesTasks: boolean
  /** Acts as the client's session, which is opened for it if the tool changes something. */
  perform<Done>(act: (acting: Acting, session: string) => Promise<Done>): Promise<Done>
}

export function tool<Input extends z.ZodObject, Output extends z.ZodObject>(
  described: Tool<Input, Output>,
): Tool<Input, Output> {
  return described
}

const ANNOTATIONS: Record<Tool['does'], ToolAnnotations> = {
  look: { readOnlyHint: true, openWorldHint: false },
  change: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: true },
  end: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
}

export function register<Input extends z.ZodObject, Output extends z.ZodObject>(
  server: McpServer,
  client: McpClient,
  described: Tool<Input, Output>,
): void {
  const { name, title, description, input, output, does } = described
  const annotations = { title, ...ANNOTATIONS[does] }
  const config = { title, description, annotations, inputSchema: input as z.ZodObject, outputSchema: output }
  server.registerTool(name, config, async (given, ctx): Promise<CallToolResult | InputRequiredResult> => {
    try {
      if (does !== 'look' && client.readOnly) throw readOnly(name)
      const place = await client.place(toldBy(server, ctx))
      const call = callOf(place, does, ctx)
      const said = await described.run(given as z.output<Input>, call)
      if ('task' in said) return asTask(said.task)
      const { structured, text } = said
      return { structuredContent: structured, content: [{ type: 'text', text }] }
    } catch (error) {
      // The client is asked for its roots, and the tool is called again with its answer.
      if (error instanceof RootsWanted) return error.question
      return failed(error)
    }
  })
}

function callOf({ session, folder }: Place, does: Tool['does'], ctx: ServerContext): Call {
  return {
    session,
    folder,
    signal: ctx.mcpReq.signal,
    takesTasks: takesTasks(ctx),
    ...progressOf(ctx),
    perform: async (act) => (does === 'look' ? act(await session.acting(), session.id) : session.change(act)),
  }
}

/** What happened and what to do about it: a model can act on that, and on a protocol error it cannot. */
function failed(error: unknown): CallToolResult {
  if (!(error instanceof ReeveError)) throw error
  const text = `${error.message}\n${error.remedy}\n(${error.code})`
  return { isError: true, content: [{ type: 'text', text }] }
}

function readOnly(name: string): ReeveError {
  return new ReeveError(
    'denied',
    `${name} changes something, and this client's token may only look.`,
    'Use a token with the role operate or agent.',
  )
}
