import { estimatePart } from '../model/estimate.ts'
import type { PromptItem, UserPart } from '../model/prompt.ts'
import type { AgentEntry } from './history.ts'
import type { PromptSource } from './prompt.ts'
import type { Part } from './state.ts'

/** The most that stays verbatim behind a summary. */
const KEPT_TOKENS = 20_000
/** Room for the answer to a summarised session, and for the summary itself. */
const RESERVED_TOKENS = 16_000
/** Enough for the 1,500 words that a summary may have, in scripts that take more tokens for a word. */
const SUMMARY_TOKENS = 4_000
/** The most of a small window that any of them takes. */
const SHARE = 1 / 4
/** Of a model whose context window is unknown: small enough for the usual ones. */
const DEFAULT_WINDOW_TOKENS = 100_000
/** A shorter text says nothing of a session that had to be shortened. */
const MIN_TRANSCRIPT_CHARS = 2_000
/** A result in a transcript is for context only: its beginning and its end say what it was. */
const MAX_RESULT_CHARS = 2_000
/** `estimateText` takes three bytes for a token. */
const CHARS_PER_TOKEN = 3

/** What is known of the model that summarises a session, and of its requests. */
interface Window {
  /** Of its facts. */
  readonly contextWindow?: number | undefined
  /** The estimated tokens of a request that it did not take. */
  readonly overflowed?: number | undefined
  /** The estimated tokens of the system prompt and the tools, which every request has. */
  readonly fixed: number
  /** It thinks before it answers, and that counts as output. */
  readonly reasons?: boolean | undefined
}

interface CompactionSizes {
  /** The entries that stay verbatim. */
  readonly keptTokens: number
  /** The most that the summary may take. */
  readonly summaryTokens: number
  readonly transcriptChars: number
}

/** The sizes of a compaction. In a small window all of them are small: a shortened session must fit, and so must the request for its summary. */
export function compactionSizes({ contextWindow, overflowed, fixed, reasons }: Window): CompactionSizes {
  const window = Math.min(contextWindow ?? DEFAULT_WINDOW_TOKENS, overflowed ?? Number.POSITIVE_INFINITY)
  const share = Math.floor(window * SHARE)
  const reserved = Math.min(RESERVED_TOKENS, share)
  return {
    keptTokens: Math.min(KEPT_TOKENS, share, Math.max(Math.floor(share / 4), Math.floor(window / 2) - fixed)),
    summaryTokens: Math.max(1, reasons === true ? reserved : Math.min(SUMMARY_TOKENS, reserved)),
    transcriptChars: Math.max(MIN_TRANSCRIPT_CHARS, (window - 2 * reserved) * CHARS_PER_TOKEN),
  }
}

/** Whether a request leaves too little of the window for its answer: then the session is shortened before the call. Unknown windows are never full. */
export function fillsWindow(tokens: number, contextWindow: number | undefined): boolean {
  if (contextWindow === undefined) return false
  return tokens > contextWindow - Math.min(RESERVED_TOKENS, Math.floor(contextWindow * SHARE))
}

/** The length of the next transcript to try, after one of this length did not fit; null: it cannot be shorter. */
export function shorterTranscript(chars: number): number | null {
  return chars <= MIN_TRANSCRIPT_CHARS ? null : Math.max(MIN_TRANSCRIPT_CHARS, Math.floor(chars / 2))
}

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
 * The session as a text of at most so many characters, for the model that summarises it. Results are shortened, and if that is not enough,
 * the middle is left out: the beginning has the goal, the end has the state of the work.
 */
export function transcriptOf(items: readonly PromptItem[], mostChars: number): string {
  return shortened(items.map(textOfItem).join('\n\n'), mostChars)
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
  const half = Math.max(0, Math.floor((most - MAX_GAP_CHARS) / 2))
  return `${text.slice(0, half)}\n(… ${text.length - 2 * half} characters left out …)\n${text.slice(-half)}`
}

/** The note in the place of what is left out. */
const MAX_GAP_CHARS = 50

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
