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
import { canElicit, type Prompts, type TakenAnswers, type Waiting } from './approvals/prompts.ts'
import { checkedInput } from './check-input.ts'
import { type ClientIdentity, identityOf, type McpClient, type Workspace } from './client.ts'
import { clientTimeoutMs } from './client-timeout.ts'
import { InputRequired } from './input-required.ts'
import { plainSchema, published } from './input-schema.ts'
import { type Progress, progressOf } from './progress.ts'
import { remedyFor } from './remedies.ts'
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
  /** The processes that a repeated call was about when it was made first. */
  readonly resumed: readonly string[]
  /** Asks the person at the client, if there is one, about the approval that a process waits for. */
  readonly prompt: Prompt
  /** Acts as the client's session. A tool that changes something opens it. */
  perform<Done>(act: (acting: ReeveVerbs, session: string) => Promise<Done>): Promise<Done>
}

interface Prompt {
  /** Whether the client can show a question to its user. */
  readonly isPossible: boolean
  afterStart(waiting: Waiting | null): void
  beforeWait(acting: ReeveVerbs, waiting: Waiting | null, waitMs: number): Promise<void>
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
  prompts: Prompts,
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
      const workspace = await client.workspace(identity)
      const taken = await prompts.takeAnswers({ ctx, session: workspace.session })
      const prompt = promptIn(server, prompts, ctx, workspace)
      const call = callOf(workspace, { effect, ctx, identity, structured, receivedAt, taken, prompt })
      const said = await described.run(asked, call)
      if ('task' in said) return asTask(said.task)
      const text = [...taken.notes, said.text].join('\n')
      return resultOf({ ...said, text }, structured)
    } catch (error) {
      // The client answers, and calls the tool again.
      if (error instanceof InputRequired) return error.question
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
  readonly taken: TakenAnswers
  readonly prompt: Prompt
}

function callOf(
  { session, folder, parent }: Workspace,
  { effect, ctx, identity, structured, receivedAt, taken, prompt }: Received,
): Call {
  const timeoutMs = clientTimeoutMs(identity.clientName)
  return {
    session,
    folder,
    ...(parent === undefined ? {} : { parent }),
    structured,
    signal: ctx.mcpReq.signal,
    takesTasks: takesTasks(ctx),
    resumed: taken.pids,
    prompt,
    msLeft: () => Math.max(0, Math.round(timeoutMs - (performance.now() - receivedAt))),
    ...progressOf(ctx),
    perform: async (act) =>
      effect === 'read' ? act(await session.acting(), session.id) : session.change(act),
  }
}

function promptIn(server: McpServer, prompts: Prompts, ctx: ServerContext, { session }: Workspace): Prompt {
  const isPossible = canElicit(server, ctx)
  return {
    isPossible,
    afterStart(waiting) {
      if (isPossible && waiting !== null) prompts.afterStart(waiting, { ctx, session })
    },
    async beforeWait(acting, waiting, waitMs) {
      if (isPossible && waiting !== null) await prompts.beforeWait(waiting, { ctx, session, acting, waitMs })
    },
  }
}

/** What happened and what to do about it. A model can act on that, but not on a protocol error. */
export function failed(error: unknown): CallToolResult {
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
