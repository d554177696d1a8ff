import type { ModelRequest, PromptItem, ToolResult } from '../../core/model/prompt.ts'
import type { Condition, Reaction, Script, ScriptedAnswer } from './script.ts'

/** The reactions to one call after the other for the same answer. `key` tells answers of a session apart. */
export interface ChosenAnswer {
  readonly key: string
  readonly reactions: readonly Reaction[]
}

/** The answer of a script to a request; undefined if the script is over. */
export function chooseAnswer(
  { replies, answers, atEnd }: Script,
  request: ModelRequest,
): ChosenAnswer | undefined {
  const place = request.answersBefore ?? request.prompt.filter(({ type }) => type === 'assistant').length
  const reply = replies.find(({ when }) => fits(when, request.prompt))
  if (reply !== undefined) return chosen(`reply ${place}`, reply.answer)
  const index = atEnd === 'repeat' ? Math.min(place, answers.length - 1) : place
  const answer = answers[index]
  return answer === undefined ? undefined : chosen(`answer ${place}`, answer)
}

function chosen(key: string, answer: ScriptedAnswer): ChosenAnswer {
  return { key, reactions: 'tries' in answer ? answer.tries : [answer] }
}

function fits({ input, tool, result, isError }: Condition, prompt: readonly PromptItem[]): boolean {
  const newest = prompt.at(-1)
  if (input !== undefined && (newest?.type !== 'user' || !userText(newest).includes(input))) return false
  if (tool === undefined && result === undefined && isError === undefined) return true
  const results = newest?.type === 'tool_results' ? newest.results : []
  return results.some(
    (one) =>
      (tool === undefined || one.tool === tool) &&
      (result === undefined || resultText(one).includes(result)) &&
      (isError === undefined || one.isError === isError),
  )
}

function userText({ parts }: Extract<PromptItem, { readonly type: 'user' }>): string {
  return parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n')
}

function resultText({ output }: ToolResult): string {
  switch (output.type) {
    case 'text':
      return output.text
    case 'json':
      return JSON.stringify(output.value)
    case 'content':
      return output.parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n')
  }
}
