import type { OutputOf } from '../verbs/reeve.ts'
import { pageOf } from './page.ts'
import type { Answer } from './tool-result.ts'
import { shown, structuredUnread, type Unread } from './unread.ts'
import { firstLine, duration as inWords, sentenceOn } from './words.ts'

const READY = { ready: 'It is ready. ', not_ready: 'It was not ready in the time it was given. ' } as const
const LINE_CHARS = 300

export interface WaitAsked {
  readonly maxChars: number
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
  const happened =
    answer === 'timed_out'
      ? notYet(asked)
      : answer === 'ready' || answer === 'not_ready'
        ? READY[answer]
        : line === null
          ? ''
          : `Printed: ${firstLine(line, LINE_CHARS)}\n`
  const finished = process.endedAt !== null
  const { above, body, notes } = shown(unread)
  const page = { head: `${happened}${sentenceOn(process)}${above}`, body, notes }
  return {
    structured: { answer, line, finished, ...structuredUnread(unread) },
    text: pageOf(page, asked.maxChars),
  }
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
function lastPrinted(line: string, wanted: string | undefined): string {
  const versions = line.split('\r').filter((version) => version.trim() !== '')
  const last = versions.findLast((version) => wanted === undefined || version.includes(wanted))
  return (last ?? versions.at(-1) ?? line).trim()
}
