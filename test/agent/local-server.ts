import type { ServerResponse } from 'node:http'
import type { EmbedOptions } from 'reeve'
import { type ChatCall, sendChat } from '../model/chat-events.ts'
import { providerServer } from '../model/provider-server.ts'
import { scriptedAgents } from './scripted-agent.ts'

export interface ServerRequest {
  readonly body: string
  readonly kind: 'turn' | 'summary' | 'judge'
  readonly model: string
  /** Tokens as such servers count them, with the room that the request asks for. */
  readonly tokens: number
  /** Results of tools in its prompt. */
  readonly results: number
}

export type ServerAnswer =
  | { readonly text: string }
  | { readonly calls: readonly ChatCall[] }
  | { readonly status: number; readonly message: string }

type ModelSettings = NonNullable<EmbedOptions['modelOptions']>['models']

/** Agents of a server that answers chat completions as the test says. Its models are `local/<name>`, and nothing is known of them. */
export async function localAgents(
  answer: (request: ServerRequest, index: number) => ServerAnswer,
  models: ModelSettings = {},
) {
  const asked: ServerRequest[] = []
  const server = await providerServer((response, { body }, index) => {
    const request = read(body)
    asked.push(request)
    send(response, answer(request, index))
  })
  const { reeve, workspace } = await scriptedAgents({
    modelOptions: {
      providers: { local: { type: 'openai-compatible', baseURL: `${server.url}/v1` } },
      models,
    },
  })
  return {
    reeve,
    workspace,
    asked,
    async start(more: object = {}, spec: object = {}): Promise<string> {
      const { record } = await reeve.spawn({
        kind: 'agent',
        cwd: workspace,
        spec: { agent: 'helper', model: 'local/m', ...spec },
        ...more,
      })
      return record.pid
    },
    /** One turn for an input. */
    async turn(pid: string, input: Omit<Parameters<typeof reeve.runAgent>[0], 'pid'>) {
      const { turn } = Object(await reeve.runAgent({ pid, ...input }))
      const waited = await reeve.waitAgent({ pid, turn })
      if (waited.type !== 'turn_ended') throw new Error(waited.type)
      return waited.turn
    },
  }
}

function read(body: string): ServerRequest {
  const {
    model,
    messages,
    tools,
    max_tokens = 0,
  } = JSON.parse(body) as {
    model: string
    messages: readonly { role: string }[]
    tools?: readonly unknown[]
    max_tokens?: number
  }
  const isJudge = tools === undefined && body.includes('Judge whether this holds')
  const kind = body.includes('You summarise the session') ? 'summary' : isJudge ? 'judge' : 'turn'
  const results = messages.filter(({ role }) => role === 'tool').length
  return { body, kind, model, results, tokens: Math.ceil(body.length / 4) + max_tokens }
}

function send(response: ServerResponse, answer: ServerAnswer): void {
  if ('status' in answer) {
    response.writeHead(answer.status, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ error: { message: answer.message, type: 'invalid_request_error' } }))
  } else sendChat(response, 'text' in answer ? { text: [answer.text] } : answer)
}

/** What a server with this context window says of a request that is too long; null if it fits. */
export function tooLong({ tokens }: ServerRequest, window: number): ServerAnswer | null {
  return tokens <= window
    ? null
    : { status: 400, message: `This model's maximum context length is ${window} tokens.` }
}
