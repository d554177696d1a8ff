import { canonical } from '../../core/json/canonical.ts'
import { type Json, type JsonObject, objectOf } from '../../core/json/json.ts'
import { type OutputPart, ToolError, type ToolOutput } from '../tools/agent-tool.ts'

/** The result of a call as the model reads it. A result that is an error is thrown. */
export function callOutput(result: JsonObject, tool: string): ToolOutput {
  const content = Array.isArray(result['content']) ? result['content'] : []
  const shown = content.map((block: Json) => partOf(objectOf(block)))
  const parts = [...shown, ...structuredPart(result['structuredContent'], shown)]
  if (result['isError'] !== true)
    return { parts: parts.length === 0 ? [text('The tool returned nothing.')] : parts }
  const texts = parts.map((part) => (part.type === 'text' ? part.text : `[${part.mediaType}]`))
  throw new ToolError('mcp_error', texts.join('\n') || `${tool} failed, and said nothing.`)
}

function text(content: string): OutputPart {
  return { type: 'text', text: content }
}

/** Every block of the protocol; one of another type is shown as its JSON. */
export function partOf(block: JsonObject): OutputPart {
  switch (block['type']) {
    case 'text':
      return text(String(block['text']))
    case 'image':
      return imageOr(block, block['data'], '')
    case 'audio':
      return text(`[audio, ${String(block['mimeType'])}]`)
    case 'resource_link':
      return text(`[resource ${String(block['uri'])}: ${String(block['name'] ?? '')}]`)
    case 'resource': {
      const resource = objectOf(block['resource'])
      const uri = String(resource['uri'])
      if (typeof resource['text'] === 'string') return text(`[resource ${uri}]\n${resource['text']}`)
      return imageOr(resource, resource['blob'], ` ${uri}`)
    }
    default:
      return text(JSON.stringify(block))
  }
}

function imageOr(block: JsonObject, data: Json | undefined, name: string): OutputPart {
  const mediaType = String(block['mimeType'])
  if (typeof data === 'string' && mediaType.startsWith('image/')) return { type: 'image', mediaType, data }
  return text(`[binary${name}, ${mediaType}]`)
}

/** Servers repeat it as text, most of the time. */
function structuredPart(structured: Json | undefined, shown: readonly OutputPart[]): readonly OutputPart[] {
  if (structured === undefined || structured === null) return []
  const wanted = canonical(structured)
  const isRepeated = shown.some((part) => part.type === 'text' && canonicalOf(part.text) === wanted)
  return isRepeated ? [] : [text(JSON.stringify(structured))]
}

function canonicalOf(content: string): string | undefined {
  try {
    return canonical(JSON.parse(content) as Json)
  } catch {
    return undefined
  }
}
