import type { Json } from '../json/json.ts'
import type { AnswerRef } from './event.ts'
import type { AgentEntry } from './history.ts'
import { textOf } from './prompt.ts'
import type { Part } from './state.ts'

/** A result with more text stays in the log: the end of the turn has its beginning. */
const MAX_RESULT_CHARS = 16_000

/** What the model said in its last answer of a turn; null if it said nothing. */
export function lastAnswer(
  entries: readonly AgentEntry[],
  turn: number,
): { readonly call: number; readonly text: string } | null {
  const last = entries.findLast((entry) => entry.type === 'assistant_item' && entry.payload.turn === turn)
  if (last?.type !== 'assistant_item') return null
  const { call } = last.payload
  const said = entries.flatMap((entry) =>
    entry.type === 'assistant_item' && entry.payload.turn === turn && entry.payload.call === call
      ? entry.payload.parts
      : [],
  )
  return { call, text: saidIn(said) }
}

/** What the model said, of the parts of one answer. */
export function saidIn(parts: readonly Part[]): string {
  return textOf(parts.filter(({ type }) => type === 'text'))
}

/** The result of a turn, from what the model said in the answer that the end of the turn refers to. */
export function resultFrom(said: string, as: AnswerRef['as']): Json {
  if (as === 'text') return resultText(said)
  const parsed = parseOutput(said)
  return parsed.type === 'parsed' ? parsed.value : null
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

/** The question to the model that judges whether a goal is reached. */
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
