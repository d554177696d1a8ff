import { randomBytes } from 'node:crypto'
import {
  acceptedContent,
  CLIENT_CAPABILITIES_META_KEY,
  createRequestStateCodec,
  fromJsonSchema,
  INVALID_PARAMS,
  type InputRequiredSpec,
  inputRequired,
  type McpServer,
  MissingRequiredClientCapabilityError,
  ProtocolError,
  type ServerContext,
} from '@modelcontextprotocol/server'
import * as z from 'zod'

const text = (said: string) => ({ content: [{ type: 'text' as const, text: said }] })

const NAME = z.object({ name: z.string() })
const OK = z.object({ ok: z.boolean() })
const COLOUR = z.object({ color: z.string() })
const CONTEXT = z.object({ context: z.string() })

type Requests = NonNullable<InputRequiredSpec['inputRequests']>

const elicit = (
  message: string,
  requestedSchema: Parameters<typeof inputRequired.elicit>[0]['requestedSchema'],
) => inputRequired.elicit({ message, requestedSchema })
const sample = (question: string) =>
  inputRequired.createMessage({
    messages: [{ role: 'user', content: { type: 'text', text: question } }],
    maxTokens: 100,
  })

const states = createRequestStateCodec<string>({ key: randomBytes(32) })

const asking = async (inputRequests: Requests, state?: string) =>
  inputRequired({
    inputRequests,
    ...(state === undefined ? {} : { requestState: await states.mint(state) }),
  })

/** The state that the client sent back, as it was when it left. */
async function stateOf(ctx: ServerContext): Promise<string | undefined> {
  const sealed = ctx.mcpReq.requestState<string>()
  return sealed === undefined ? undefined : states.verify(sealed, ctx)
}

const responseTo = ({ mcpReq }: ServerContext, key: string): unknown => Object(mcpReq.inputResponses)[key]

/** What tools with `input_required` ask for in the modern era; their names, keys and texts are the suite's. */
export function addFixtureInput(server: McpServer): void {
  const tool = (name: string, run: Parameters<typeof register>[2]) => register(server, name, run)
  tool('elicitation', async (ctx) => {
    const answer = acceptedContent(ctx.mcpReq.inputResponses, 'user_name', NAME)
    if (answer !== undefined) return text(`Hello, ${answer.name}!`)
    return asking({ user_name: elicit('What is your name?', NAME) })
  })
  tool('sampling', async (ctx) => {
    const answer = responseTo(ctx, 'capital_question')
    if (answer !== undefined) return text(JSON.stringify(answer))
    return asking({ capital_question: sample('What is the capital of France?') })
  })
  tool('list_roots', async (ctx) => {
    const answer = responseTo(ctx, 'client_roots')
    if (answer !== undefined) return text(JSON.stringify(answer))
    return asking({ client_roots: inputRequired.listRoots() })
  })
  tool('request_state', async (ctx) => {
    const state = await stateOf(ctx)
    const answer = acceptedContent(ctx.mcpReq.inputResponses, 'confirm', OK)
    if (answer !== undefined && state === 'asked') return text('state-ok')
    return asking({ confirm: elicit('Please confirm', OK) }, 'asked')
  })
  tool('multiple_inputs', async (ctx) => {
    const keys = ['user_name', 'greeting', 'client_roots']
    if (keys.every((key) => responseTo(ctx, key) !== undefined)) return text('All three answered.')
    return asking(
      {
        user_name: elicit('What is your name?', NAME),
        greeting: sample('Generate a greeting'),
        client_roots: inputRequired.listRoots(),
      },
      'asked',
    )
  })
  tool('multi_round', async (ctx) => {
    const state = await stateOf(ctx)
    if (state === 'second' && responseTo(ctx, 'step2') !== undefined) return text('Both steps done.')
    if (state === 'first' && responseTo(ctx, 'step1') !== undefined)
      return asking({ step2: elicit('Step 2: What is your favorite color?', COLOUR) }, 'second')
    return asking({ step1: elicit('Step 1: What is your name?', NAME) }, 'first')
  })
  tool('tampered_state', async (ctx) => {
    if ((await stateOf(ctx)) === 'asked') return text('state-ok')
    return asking({ confirm: elicit('Please confirm', OK) }, 'asked')
  })
  tool('capabilities', async (ctx) =>
    asking({
      ...(has(ctx, 'elicitation') ? { user_name: elicit('What is your name?', NAME) } : {}),
      ...(has(ctx, 'sampling') ? { greeting: sample('Generate a greeting') } : {}),
    }),
  )
  const shown = { description: 'Needs to sample' }
  server.registerTool('test_missing_capability', shown, async () => text('The client can sample.'))
  server.registerTool('test_streaming_elicitation', { description: 'Asks in its stream' }, async (ctx) => {
    const answer = acceptedContent(ctx.mcpReq.inputResponses, 'user_name', NAME)
    return answer === undefined
      ? asking({ user_name: elicit('What is your name?', NAME) })
      : text(answer.name)
  })
  const region = { type: 'string', 'x-mcp-header': 'Region' } as const
  const mirrored = fromJsonSchema<{ region?: string }>({ type: 'object', properties: { region } })
  server.registerTool(
    'test_custom_headers',
    { description: 'Has an argument that a header repeats', inputSchema: mirrored },
    async (given) => text(given.region ?? 'nowhere'),
  )
  server.registerTool('test_logging_tool', { description: 'Logs, if it is asked to' }, async (ctx) => {
    await ctx.mcpReq.log('info', 'Something was done')
    return text('Logged.')
  })
  server.registerPrompt(
    'test_input_required_result_prompt',
    { description: 'Asks before it says something' },
    async (ctx) => {
      const answer = acceptedContent(ctx.mcpReq.inputResponses, 'user_context', CONTEXT)
      if (answer === undefined)
        return asking({ user_context: elicit('What context should the prompt use?', CONTEXT) })
      const content = { type: 'text' as const, text: answer.context }
      return { messages: [{ role: 'user' as const, content }] }
    },
  )
}

/** Protocol errors of a call, as opposed to errors of its tool. */
export async function refuseCall(tool: string, ctx: ServerContext): Promise<void> {
  if (tool === 'test_missing_capability' && !has(ctx, 'sampling'))
    throw new MissingRequiredClientCapabilityError({ requiredCapabilities: { sampling: {} } })
  await stateOf(ctx).catch(() => {
    throw new ProtocolError(INVALID_PARAMS, 'The state is not what it was.')
  })
}

function has({ mcpReq }: ServerContext, capability: string): boolean {
  return capability in Object(Object(mcpReq.envelope)[CLIENT_CAPABILITIES_META_KEY])
}

function register(
  server: McpServer,
  name: string,
  run: (ctx: ServerContext) => Promise<ReturnType<typeof text> | Awaited<ReturnType<typeof asking>>>,
): void {
  const description = `Asks before it answers: ${name}`
  server.registerTool(`test_input_required_result_${name}`, { description }, (ctx) => run(ctx))
}
