import * as z from 'zod'
import { event, type ModelRequest, type Turn, type Wire } from './wire.ts'

const PREFIX = 'mcp_reeve_'

const functionResponse = z.looseObject({
  id: z.string().optional(),
  name: z.string(),
  response: z.looseObject({ output: z.string().optional() }),
})

const request = z.looseObject({
  tools: z
    .array(z.looseObject({ functionDeclarations: z.array(z.looseObject({ name: z.string() })).optional() }))
    .optional(),
  contents: z.array(
    z.looseObject({
      parts: z.array(z.looseObject({ functionResponse: functionResponse.optional() })),
    }),
  ),
})

/** An argument that Gemini CLI adds to every tool, and takes off before it calls the tool. */
const OWN_ARGUMENT = 'wait_for_previous'

/** Gemini's `streamGenerateContent`, which Gemini CLI speaks. */
export const gemini: Wire = {
  read(path: string, body: unknown): ModelRequest | null {
    if (!path.includes(':streamGenerateContent')) return null
    const { tools = [], contents } = request.parse(body)
    const declared = tools.flatMap(({ functionDeclarations = [] }) => functionDeclarations)
    const responses = contents
      .flatMap(({ parts }) => parts)
      .flatMap((part) => (part.functionResponse === undefined ? [] : [part.functionResponse]))
    return {
      hasTools: declared.length > 0,
      tools: declared
        .filter(({ name }) => name.startsWith(PREFIX))
        .map((tool) => ({ name: tool.name.slice(PREFIX.length), json: JSON.stringify(tool, withoutOwn) })),
      results: new Map(
        responses.map(({ id = '', response }) => [id, response.output ?? JSON.stringify(response)] as const),
      ),
    }
  },

  write(turn: Turn): string {
    const part =
      turn.type === 'call'
        ? {
            functionCall: {
              id: turn.id,
              name: turn.of === 'client' ? turn.tool : `${PREFIX}${turn.tool}`,
              args: turn.input,
            },
          }
        : { text: turn.text }
    const content = { role: 'model', parts: [part] }
    const usageMetadata = { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 }
    return event({ candidates: [{ index: 0, content, finishReason: 'STOP' }], usageMetadata })
  },
}

function withoutOwn(key: string, value: unknown): unknown {
  return key === OWN_ARGUMENT ? undefined : value
}
