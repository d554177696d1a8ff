import type { OutputOf } from '../verbs/reeve.ts'
import { pageOf } from './page.ts'
import type { Answer } from './tool-result.ts'
import { shown, structuredUnread, type Unread } from './unread.ts'
import { firstLine, duration as inWords, sentenceOn } from './words.ts'

const LINE_CHARS = 300

export interface WaitAsked {
  readonly maxChars: number
  /** Its end, unless this says something else. */
  readonly awaited?: 'line' | 'ready'
  /** The text that a line was to have. */
  readonly text?: string
  /** For how long it was waited; null where that is not known. */
  readonly afterMs: number | null
  /** What is left of the time that was asked for: the answer had to come before it was over. */
  readonly leftMs?: number
}

/** What a wait came to, and what is new meanwhile. */
export function waitedFor(waited: OutputOf<'wait'>, unread: Unread, asked: WaitAsked): Answer {
  const answer = waited.type === 'interrupted' ? 'timed_out' : waited.type
  const line = waited.type === 'matched' ? lastPrinted(waited.line.text, asked.text) : null
  const { process } = unread
  const finished = process.endedAt !== null
  const happened =
    answer === 'timed_out'
      ? notYet(asked)
      : line === null
        ? settledText(answer, asked.awaited, finished)
        : printedText(line)
  const { above, body, notes } = shown(unread)
  const page = { head: `${happened}${sentenceOn(process)}${above}`, body, notes }
  return {
    structured: { answer, line, finished, ...structuredUnread(unread) },
    text: pageOf(page, asked.maxChars),
  }
}

/** What a wait that is over came to, where that is not said by how the process is. */
export function settledText(
  answer: Exclude<OutputOf<'wait'>['type'], 'interrupted' | 'timed_out'>,
  awaited: 'line' | 'ready' | undefined,
  finished: boolean,
): string {
  if (answer === 'ready') return finished ? 'It was ready, and has ended since. ' : 'It is ready. '
  if (answer === 'not_ready') return 'It was not ready in the time it was given. '
  if (answer === 'matched' || awaited === undefined) return ''
  return awaited === 'line' ? 'It ended without printing that. ' : 'It ended and was never ready. '
}

export function printedText(line: string): string {
  return `Printed: ${firstLine(line, LINE_CHARS)}\n`
}

/** What a wait waits for, other than the end. */
export function awaitedIn({
  until,
  ready,
}: {
  readonly until?: object | undefined
  readonly ready?: boolean | undefined
}): { awaited?: 'line' | 'ready' } {
  if (until !== undefined) return { awaited: 'line' }
  return ready === true ? { awaited: 'ready' } : {}
}

function notYet({ afterMs, leftMs = 0 }: WaitAsked): string {
  if (afterMs === null) return 'Not yet. '
  const left =
    leftMs > 0
      ? ` ${inWords(leftMs)} of your timeoutMs are left: call process_wait again to go on waiting.`
      : ''
  return `Not yet: waited ${inWords(afterMs)}.${left} `
}

/** Of a line that was printed over itself, a progress bar: the last that fits. */
export function lastPrinted(line: string, wanted: string | undefined): string {
  const versions = line.split('\r').filter((version) => version.trim() !== '')
  const last = versions.findLast((version) => wanted === undefined || version.includes(wanted))
  return (last ?? versions.at(-1) ?? line).trim()
}
