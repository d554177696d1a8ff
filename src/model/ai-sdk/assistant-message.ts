import type { LanguageModelV4Message } from '@ai-sdk/provider'
import type { AssistantPart, ModelName, PromptItem } from '../../core/model/prompt.ts'
import { providerOptionsOf } from './provider-options.ts'
import { type Target, wireCallId } from './target.ts'

type AssistantContent = Extract<LanguageModelV4Message, { readonly role: 'assistant' }>['content']

/**
 * An answer, as it is sent back. To the model that made it, whole: reasoning with signatures, calls that the provider executed. Others would
 * reject those, and get text and calls. The result of a provider's own tool becomes text.
 */
export function assistantMessage(
  { by, parts }: Extract<PromptItem, { readonly type: 'assistant' }>,
  target: Target,
): readonly LanguageModelV4Message[] {
  const isOwn = by !== undefined && isSame(by, target)
  const content = parts.flatMap((part) => (isOwn ? ownPart(part, target) : foreignPart(part, target)))
  return content.length === 0 ? [] : [{ role: 'assistant', content }]
}

function ownPart(part: AssistantPart, target: Target): AssistantContent {
  const options = providerOptionsOf(part.providerData)
  switch (part.type) {
    case 'text':
      return part.text === '' ? [] : [{ type: 'text', text: part.text, ...options }]
    case 'reasoning':
      return [{ type: 'reasoning', text: part.text, ...options }]
    case 'tool_call':
      return [
        {
          type: 'tool-call',
          toolCallId: wireCallId(part.callId, target),
          toolName: part.tool,
          input: part.input,
          ...(part.isProviderExecuted === true && { providerExecuted: true }),
          ...options,
        },
      ]
    case 'provider_result':
      return [
        {
          type: 'tool-result',
          toolCallId: wireCallId(part.callId, target),
          toolName: part.tool,
          output: { type: part.isError ? 'error-json' : 'json', value: part.result },
          ...options,
        },
      ]
    case 'opaque':
      return isCustomKind(part.kind) ? [{ type: 'custom', kind: part.kind, ...options }] : []
  }
}

function foreignPart(part: AssistantPart, target: Target): AssistantContent {
  switch (part.type) {
    case 'text':
      return part.text === '' ? [] : [{ type: 'text', text: part.text }]
    case 'tool_call':
      if (part.isProviderExecuted === true) return []
      return [
        {
          type: 'tool-call',
          toolCallId: wireCallId(part.callId, target),
          toolName: part.tool,
          input: part.input,
        },
      ]
    case 'provider_result':
      return [{ type: 'text', text: `[${part.tool} returned: ${JSON.stringify(part.result)}]` }]
    case 'reasoning':
    case 'opaque':
      return []
  }
}

function isSame(one: ModelName, other: ModelName): boolean {
  return one.provider === other.provider && one.model === other.model
}

function isCustomKind(kind: string): kind is `${string}.${string}` {
  return kind.includes('.')
}
