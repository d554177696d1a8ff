import type { AssistantPart, PromptItem, ToolCall, UserPart } from './prompt.ts'

/**
 * Why no provider would accept this prompt; undefined if it is in order. A session is built so that this never happens: a problem here is a
 * defect, and is found before the request is sent and paid for.
 */
export function promptProblem(prompt: readonly PromptItem[]): string | undefined {
  const used = new Set<string>()
  let open: readonly ToolCall[] = []
  for (const [index, item] of prompt.entries()) {
    if (item.type === 'tool_results') {
      const problem = resultsProblem(item.results, open)
      if (problem !== undefined) return `Item ${index}: ${problem}`
      open = []
      continue
    }
    if (open.length > 0) return `Item ${index}: the call ${open[0]?.callId} has no result.`
    if (item.type === 'user' && item.parts.every(isEmpty)) return `Item ${index}: the input is empty.`
    if (item.type !== 'assistant') continue
    const calls = item.parts.filter(isCall)
    const repeated = calls.find(({ callId }) => used.has(callId) || !used.add(callId))
    if (repeated !== undefined) return `Item ${index}: the call id ${repeated.callId} occurs twice.`
    open = calls.filter((call) => call.isProviderExecuted !== true)
  }
  if (open.length > 0) return `The call ${open[0]?.callId} has no result.`
  const last = prompt.at(-1)
  if (last === undefined) return 'The prompt is empty.'
  return last.type === 'assistant' ? 'The prompt ends with an answer: there is nothing to answer.' : undefined
}

/** The ids of all tool calls in a prompt. */
export function callIdsIn(prompt: readonly PromptItem[]): Set<string> {
  return new Set(
    prompt.flatMap((item) =>
      item.type === 'assistant' ? item.parts.filter(isCall).map(({ callId }) => callId) : [],
    ),
  )
}

function resultsProblem(
  results: readonly { readonly callId: string }[],
  open: readonly ToolCall[],
): string | undefined {
  const ids = results.map(({ callId }) => callId)
  const twice = ids.find((id, index) => ids.indexOf(id) !== index)
  if (twice !== undefined) return `the call ${twice} has two results.`
  const unasked = ids.find((id) => !open.some(({ callId }) => callId === id))
  if (unasked !== undefined) return `the result of ${unasked} belongs to no call of the answer before.`
  const missing = open.find(({ callId }) => !ids.includes(callId))
  return missing === undefined ? undefined : `the call ${missing.callId} has no result.`
}

function isEmpty(part: UserPart): boolean {
  return part.type === 'text' && part.text === ''
}

function isCall(part: AssistantPart): part is ToolCall {
  return part.type === 'tool_call'
}
