import type { AssistantPart, ModelName, PromptItem } from './prompt.ts'

/**
 * The items to append to a prompt after an answer was cut, before the model is called again. Nothing is appended if nothing was complete: the
 * same request is sent again. After complete tool calls their results follow, and the model sees by them how far it got.
 */
export function continueAnswer(parts: readonly AssistantPart[], by: ModelName): readonly PromptItem[] {
  if (parts.length === 0) return []
  const answer: PromptItem = { type: 'assistant', by, parts }
  const hasCalls = parts.some((part) => part.type === 'tool_call' && part.isProviderExecuted !== true)
  return hasCalls ? [answer] : [answer, { type: 'note', text: CUT_NOTE }]
}

const CUT_NOTE =
  'The connection broke while you were answering. The text above is what arrived. Continue exactly where it ends, without repeating it.'
