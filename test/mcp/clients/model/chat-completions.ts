import * as z from 'zod'
import { event, type ModelRequest, type Turn, type Wire } from './wire.ts'

const PREFIX = 'reeve_'

const request = z.looseObject({
  tools: z.array(z.looseObject({ function: z.looseObject({ name: z.string() }) })).optional(),
  messages: z.array(
    z.looseObject({
      role: z.string(),
      tool_call_id: z.string().optional(),
      content: z.union([z.string(), z.array(z.looseObject({ text: z.string().optional() }))]).nullish(),
    }),
  ),
})

/** The chat completions of OpenAI and of many other APIs, as opencode speaks them. */
export const chatCompletions: Wire = {
  read(path: string, body: unknown): ModelRequest | null {
    if (!path.endsWith('/chat/completions')) return null
    const { tools = [], messages } = request.parse(body)
    const results = messages.flatMap(({ role, tool_call_id: id, content }) =>
      role === 'tool' && id !== undefined ? [[id, textOf(content)] as const] : [],
    )
    return {
      hasTools: tools.length > 0,
      tools: tools
        .filter((tool) => tool.function.name.startsWith(PREFIX))
        .map((tool) => ({ name: tool.function.name.slice(PREFIX.length), json: JSON.stringify(tool) })),
      results: new Map(results),
    }
  },

  write(turn: Turn): string {
    const delta =
      turn.type === 'call'
        ? {
            role: 'assistant',
            tool_calls: [
              {
                index: 0,
                id: turn.id,
                type: 'function',
                function: {
                  name: turn.of === 'client' ? turn.tool : `${PREFIX}${turn.tool}`,
                  arguments: JSON.stringify(turn.input),
                },
              },
            ],
          }
        : { role: 'assistant', content: turn.text }
    const chunk = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'scripted' }
    const finished = turn.type === 'call' ? 'tool_calls' : 'stop'
    const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 }
    return [
      event({ ...chunk, choices: [{ index: 0, delta, finish_reason: null }] }),
      event({ ...chunk, choices: [{ index: 0, delta: {}, finish_reason: finished }], usage }),
      'data: [DONE]\n\n',
    ].join('')
  },
}

function textOf(
  content: string | readonly { readonly text?: string | undefined }[] | null | undefined,
): string {
  if (typeof content === 'string') return content
  return (content ?? []).map(({ text = '' }) => text).join('\n')
}
