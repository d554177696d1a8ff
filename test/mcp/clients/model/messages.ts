import * as z from 'zod'
import { event, type ModelRequest, type Turn, type Wire } from './wire.ts'

const PREFIX = 'mcp__reeve__'

const request = z.looseObject({
  tools: z.array(z.looseObject({ name: z.string() })).optional(),
  messages: z.array(
    z.looseObject({
      content: z.union([
        z.string(),
        z.array(
          z.looseObject({
            type: z.string(),
            tool_use_id: z.string().optional(),
            content: z
              .union([z.string(), z.array(z.looseObject({ text: z.string().optional() }))])
              .optional(),
          }),
        ),
      ]),
    }),
  ),
})

/** Anthropic's Messages API, which Claude Code speaks. */
export const messages: Wire = {
  read(path: string, body: unknown): ModelRequest | null {
    if (!path.split('?')[0]?.endsWith('/messages')) return null
    const { tools = [], messages: conversation } = request.parse(body)
    const blocks = conversation.flatMap(({ content }) => (typeof content === 'string' ? [] : content))
    const results = blocks.flatMap(({ type, tool_use_id: id, content }) =>
      type === 'tool_result' && id !== undefined ? [[id, textOf(content)] as const] : [],
    )
    return {
      hasTools: tools.length > 0,
      tools: tools
        .filter(({ name }) => name.startsWith(PREFIX))
        .map((tool) => ({ name: tool.name.slice(PREFIX.length), json: JSON.stringify(tool) })),
      results: new Map(results),
    }
  },

  write(turn: Turn): string {
    const start = {
      id: 'm',
      type: 'message',
      role: 'assistant',
      model: 'scripted',
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: { input_tokens: 1, output_tokens: 1 },
    }
    const [block, delta] =
      turn.type === 'call'
        ? [
            { type: 'tool_use', id: turn.id, name: nameOf(turn), input: {} },
            { type: 'input_json_delta', partial_json: JSON.stringify(turn.input) },
          ]
        : [
            { type: 'text', text: '' },
            { type: 'text_delta', text: turn.text },
          ]
    const stop = turn.type === 'call' ? 'tool_use' : 'end_turn'
    return [
      { type: 'message_start', message: start },
      { type: 'content_block_start', index: 0, content_block: block },
      { type: 'content_block_delta', index: 0, delta },
      { type: 'content_block_stop', index: 0 },
      {
        type: 'message_delta',
        delta: { stop_reason: stop, stop_sequence: null },
        usage: { output_tokens: 1 },
      },
      { type: 'message_stop' },
    ]
      .map((data) => event(data, data.type))
      .join('')
  },
}

function nameOf({ tool, of }: Extract<Turn, { readonly type: 'call' }>): string {
  return of === 'client' ? tool : `${PREFIX}${tool}`
}

function textOf(content: string | readonly { readonly text?: string | undefined }[] | undefined): string {
  if (typeof content === 'string') return content
  return (content ?? []).map((block) => block.text ?? JSON.stringify(block)).join('\n')
}
