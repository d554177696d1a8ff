import { estimatePart } from '../model/estimate.ts'
import type { PromptItem, UserPart } from '../model/prompt.ts'
import type { AgentEntry } from './history.ts'
import type { PromptSource } from './prompt.ts'
import type { Part } from './state.ts'

/** The entries that stay verbatim behind a summary. */
const KEPT_TOKENS = 20_000
/** Room for the answer to a summarised session, and for the summary itself. */
export const RESERVED_TOKENS = 16_000
/** Of a model whose context window is unknown: small enough for the usual ones. */
const DEFAULT_WINDOW_TOKENS = 100_000
/** A result in a transcript is for context only: its beginning and its end say what it was. */
const MAX_RESULT_CHARS = 2_000
/** `estimateText` takes three bytes for a token. */
const CHARS_PER_TOKEN = 3

/**
 * The first entry that a compaction keeps: the longest end of the session within `tokens` that begins where an answer or an input begins.
 * So no result is kept without its call. Null: nothing is kept. Parts are whole: no references to blobs.
 */
export function firstKept(
  entries: readonly AgentEntry[],
  partsAt: PromptSource['partsAt'],
  tokens = KEPT_TOKENS,
): number | null {
  let sum = 0
  let kept: number | null = null
  for (const [index, entry] of [...entries.entries()].toReversed()) {
    if (entry.type === 'segment_begun') break
    for (const part of promptParts(entry, partsAt)) sum += estimatePart(part)
    if (sum > tokens) break
    if (beginsItem(entries[index - 1], entry)) kept = entry.seq
  }
  return kept
}

/** What a prompt has of an entry. The parts of inputs and notices are in earlier events. */
function promptParts(entry: AgentEntry, partsAt: PromptSource['partsAt']): readonly Part[] {
  switch (entry.type) {
    case 'input_promoted':
      return partsAt(entry.payload.seq)
    case 'notices_promoted':
      return entry.payload.seqs.flatMap(partsAt)
    default:
      return 'parts' in entry.payload ? entry.payload.parts : []
  }
}

function beginsItem(before: AgentEntry | undefined, entry: AgentEntry): boolean {
  switch (entry.type) {
    case 'input_promoted':
    case 'notices_promoted':
    case 'system_item':
      return true
    case 'assistant_item':
    case 'tool_called': {
      const isSaid = before?.type === 'assistant_item' || before?.type === 'tool_called'
      return (
        !isSaid || before.payload.turn !== entry.payload.turn || before.payload.call !== entry.payload.call
      )
    }
    default:
      return false
  }
}

/**
 * The session as a text that fits into the window of the model that summarises it. Results are shortened, and if that is not enough,
 * the middle is left out: the beginning has the goal, the end has the state of the work.
 */
export function transcriptOf(items: readonly PromptItem[], windowTokens = DEFAULT_WINDOW_TOKENS): string {
  const text = items.map(textOfItem).join('\n\n')
  const most = Math.max(2 * MAX_RESULT_CHARS, (windowTokens - 2 * RESERVED_TOKENS) * CHARS_PER_TOKEN)
  return shortened(text, most)
}

function textOfItem(item: PromptItem): string {
  switch (item.type) {
    case 'user':
      return `User: ${userText(item.parts)}`
    case 'note':
      return `Note: ${item.text}`
    case 'assistant':
      return item.parts
        .flatMap((part) => {
          if (part.type === 'text') return [`Assistant: ${part.text}`]
          if (part.type !== 'tool_call') return []
          return [`Call of ${part.tool}: ${shortened(JSON.stringify(part.input), MAX_RESULT_CHARS)}`]
        })
        .join('\n')
    case 'tool_results':
      return item.results
        .map(({ tool, output, isError }) => {
          const text =
            output.type === 'text'
              ? output.text
              : output.type === 'json'
                ? JSON.stringify(output.value)
                : userText(output.parts)
          return `${isError ? 'Error' : 'Result'} of ${tool}: ${shortened(text, MAX_RESULT_CHARS)}`
        })
        .join('\n')
  }
}

function userText(parts: readonly UserPart[]): string {
  return parts.map((part) => (part.type === 'text' ? part.text : `(${part.type})`)).join('\n')
}

function shortened(text: string, most: number): string {
  if (text.length <= most) return text
  const half = Math.floor(most / 2)
  return `${text.slice(0, half)}\n(… ${text.length - 2 * half} characters left out …)\n${text.slice(-half)}`
}

export const COMPACTION_SYSTEM =
  'You summarise the session of an agent, so that it can go on with your summary in the place of its history.'

export function compactionRequest(transcript: string): string {
  return [
    'Summarise this session. Keep: the goal in its own words, decisions and their reasons, the state of the work, files and commands that matter with their paths, open problems, and what to do next. Leave out greetings and dead ends. Write at most 1,500 words.',
    '<session>',
    transcript,
    '</session>',
  ].join('\n\n')
}

/** The text for the model before the entries that were kept. */
export function summaryText(summary: string, goal: string): string {
  return [
    'The session before this point was summarised to save space.',
    ...(goal === '' ? [] : [`The first request was: ${goal}`]),
    `Summary: ${summary}`,
  ].join('\n\n')
}
