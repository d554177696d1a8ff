import { type Json, type JsonObject, sizeOf } from '../json/json.ts'
import type { Usage } from './answer.ts'
import type { AssistantPart, ModelRequest, PromptItem, ToolResult, UserPart } from './prompt.ts'

/** Tokenizers give 3 to 5 bytes of English or code per token, and about one token per character of other scripts, which have 2 to 4 bytes. */
const BYTES_PER_TOKEN = 3
/** Roles and separators. */
const TOKENS_PER_ITEM = 8
const TOKENS_PER_TOOL = 16
/** The most that providers charge for one image in its usual resolution. */
const TOKENS_PER_IMAGE = 2_000
/** Of documents providers count the text and a picture of each page. */
const DOCUMENT_BYTES_PER_TOKEN = 10
const MIN_DOCUMENT_TOKENS = 3_000
/** Base64 takes four characters for three bytes. */
const BYTES_PER_BASE64_CHAR = 3 / 4

/** The tokens of a request, rather too many than too few. It costs one pass over the text, and no tokenizer. */
export function estimateRequest({ system, prompt, tools }: ModelRequest): number {
  const declared = tools.map(
    ({ name, description, input }) =>
      TOKENS_PER_TOOL + estimateText(name) + estimateText(description) + estimateJson(input),
  )
  return TOKENS_PER_ITEM + estimateText(system) + sum(declared) + estimatePrompt(prompt)
}

function estimatePrompt(prompt: readonly PromptItem[]): number {
  return sum(prompt.map((item) => TOKENS_PER_ITEM + estimateItem(item)))
}

/** The usage of a call whose provider reported none, because it was cut or never does. */
export function estimateUsage(request: ModelRequest, parts: readonly AssistantPart[]): Usage {
  return {
    inputTokens: estimateRequest(request),
    cachedInputTokens: 0,
    cacheWriteTokens: 0,
    outputTokens: sum(parts.map(estimateAssistantPart)),
    reasoningTokens: sum(parts.map((part) => (part.type === 'reasoning' ? estimateText(part.text) : 0))),
    isEstimate: true,
  }
}

/** The tokens of a part of an entry: a picture or a document by what providers charge, everything else by its text. */
export function estimatePart(part: JsonObject): number {
  const { type, mediaType, data } = part
  if (type === 'image') return TOKENS_PER_IMAGE
  if (type === 'file' && typeof mediaType === 'string' && typeof data === 'string')
    return estimateUserPart({ type, mediaType, data })
  return estimateJson(part)
}

export function estimateText(text: string): number {
  let bytes = text.length
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index)
    if (unit > 0x7f) bytes += unit > 0x7ff && (unit < 0xd800 || unit > 0xdfff) ? 2 : 1
  }
  return Math.ceil(bytes / BYTES_PER_TOKEN)
}

function estimateItem(item: PromptItem): number {
  switch (item.type) {
    case 'user':
      return sum(item.parts.map(estimateUserPart))
    case 'assistant':
      return sum(item.parts.map(estimateAssistantPart))
    case 'tool_results':
      return sum(item.results.map(estimateResult))
    case 'note':
      return TOKENS_PER_ITEM + estimateText(item.text)
  }
}

function estimateUserPart(part: UserPart): number {
  switch (part.type) {
    case 'text':
      return estimateText(part.text)
    case 'image':
      return TOKENS_PER_IMAGE
    case 'file': {
      const bytes = part.data.length * BYTES_PER_BASE64_CHAR
      if (part.mediaType.startsWith('text/')) return TOKENS_PER_ITEM + Math.ceil(bytes / BYTES_PER_TOKEN)
      return Math.max(MIN_DOCUMENT_TOKENS, Math.ceil(bytes / DOCUMENT_BYTES_PER_TOKEN))
    }
  }
}

function estimateAssistantPart(part: AssistantPart): number {
  switch (part.type) {
    case 'text':
      return estimateText(part.text)
    case 'reasoning':
      return estimateText(part.text) + estimateJson(part.providerData ?? null)
    case 'tool_call':
      return TOKENS_PER_ITEM + estimateText(part.tool) + estimateJson(part.input)
    case 'provider_result':
      return TOKENS_PER_ITEM + estimateJson(part.result)
    case 'opaque':
      return estimateJson(part.providerData ?? null)
  }
}

function estimateResult({ output }: ToolResult): number {
  switch (output.type) {
    case 'text':
      return TOKENS_PER_ITEM + estimateText(output.text)
    case 'json':
      return TOKENS_PER_ITEM + estimateJson(output.value)
    case 'content':
      return TOKENS_PER_ITEM + sum(output.parts.map(estimateUserPart))
  }
}

function estimateJson(value: Json): number {
  return value === null ? 0 : Math.ceil(sizeOf(value) / BYTES_PER_TOKEN)
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0)
}
