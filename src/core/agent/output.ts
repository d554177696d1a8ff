import type { Json } from '../json/json.ts'
import type { AgentEntry } from './history.ts'
import { textOf } from './prompt.ts'

/** A result with more text stays in the log: the end of the turn has its beginning. */
const MAX_RESULT_CHARS = 16_000

/** What the model said in its last answer of a turn. */
export function lastAnswer(entries: readonly AgentEntry[], turn: number): string {
  const last = entries.findLast((entry) => entry.type === 'assistant_item' && entry.payload.turn === turn)
  if (last?.type !== 'assistant_item') return ''
  const { call } = last.payload
  const said = entries.flatMap((entry) =>
    entry.type === 'assistant_item' && entry.payload.turn === turn && entry.payload.call === call
      ? entry.payload.parts.filter(({ type }) => type === 'text')
      : [],
  )
  return textOf(said)
}

export function resultText(text: string): string {
  if (text.length <= MAX_RESULT_CHARS) return text
  return `${text.slice(0, MAX_RESULT_CHARS)}\n(${text.length - MAX_RESULT_CHARS} more characters are in the log.)`
}

export type ParsedOutput =
  | { readonly type: 'parsed'; readonly value: Json }
  | { readonly type: 'not_json'; readonly message: string }

/** The JSON of an answer. Models like to put it into a code block. */
export function parseOutput(text: string): ParsedOutput {
  const fenced = /^\s*```(?:json)?\s*\n([\s\S]*?)\n\s*```\s*$/.exec(text)
  try {
    return { type: 'parsed', value: JSON.parse(fenced?.[1] ?? text) as Json }
  } catch (error) {
    return { type: 'not_json', message: `The answer is not JSON: ${String(error)}` }
  }
}

export function repairText(misfit: string): string {
  return `Your answer does not fit the requested schema: ${misfit}. Answer again with JSON alone that fits it.`
}

/** What a model is asked to judge whether a goal is reached. */
export function checkRequest(check: string, answer: string): string {
  return [
    `Judge whether this holds: ${check}`,
    'Begin your answer with YES or NO, then give the reason in one sentence.',
    `The agent says:\n${answer}`,
  ].join('\n\n')
}

export function isYes(text: string): boolean {
  return /^\W*yes\b/i.test(text)
}
