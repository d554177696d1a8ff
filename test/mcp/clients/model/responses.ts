import * as z from 'zod'
import { event, type ModelRequest, type Turn, type Wire } from './wire.ts'

const NAMESPACE = 'mcp__reeve'

const request = z.looseObject({
  tools: z.array(
    z.looseObject({
      name: z.string().optional(),
      tools: z.array(z.looseObject({ name: z.string() })).optional(),
    }),
  ),
  input: z.array(
    z.looseObject({
      type: z.string().optional(),
      call_id: z.string().optional(),
      output: z.union([z.string(), z.array(z.looseObject({ text: z.string().optional() }))]).optional(),
    }),
  ),
})

/** OpenAI's Responses API, which Codex speaks. */
export const responses: Wire = {
  read(path: string, body: unknown): ModelRequest | null {
    if (!path.endsWith('/responses')) return null
    const { tools, input } = request.parse(body)
    const offered = tools.find(({ name }) => name === NAMESPACE)?.tools ?? []
    const results = input.flatMap(({ type, call_id: id, output }) =>
      type === 'function_call_output' && id !== undefined ? [[id, textOf(output)] as const] : [],
    )
    return {
      hasTools: tools.length > 0,
      tools: offered.map((tool) => ({ name: tool.name, json: JSON.stringify(tool) })),
      results: new Map(results),
    }
  },

  write(turn: Turn): string {
    const item =
      turn.type === 'call'
        ? {
            type: 'function_call',
            call_id: turn.id,
            ...(turn.of === 'client' ? {} : { namespace: NAMESPACE }),
            name: turn.tool,
            arguments: JSON.stringify(turn.input),
          }
        : { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: turn.text }] }
    const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 }
    return [
      event({ type: 'response.created', response: { id: 'r' } }, 'response.created'),
      event({ type: 'response.output_item.done', item }, 'response.output_item.done'),
      event({ type: 'response.completed', response: { id: 'r', usage } }, 'response.completed'),
    ].join('')
  },
}

function textOf(output: z.infer<typeof request>['input'][number]['output']): string {
  if (typeof output === 'string') return output
  return (output ?? []).map(({ text = '' }) => text).join('\n')
}
