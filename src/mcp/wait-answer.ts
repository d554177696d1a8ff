import type { OutputOf } from '../verbs/reeve.ts'
import { pageOf } from './page.ts'
import { describeProcess, firstLine, duration as inWords } from './process-sentences.ts'
import type { Answer } from './tool-result.ts'
import { partsOf, structuredUnread, type Unread } from './unread.ts'

const LINE_CHARS = 300

export interface WaitAsked {
  readonly maxChars: number
  /** The awaited condition; the end by default. */
  readonly awaited?: 'line' | 'ready'
  /** The awaited text of a line. */
  readonly text?: string
  /** How long the wait lasted; null if unknown. */
  readonly afterMs: number | null
  /** Further notes for the model. */
  readonly notes?: readonly string[]
  /** The rest of the requested time, if the answer had to come earlier. */
  readonly leftMs?: number
}

/** Answers with the result of a wait and the new output. */
export function waitAnswer(waited: OutputOf<'wait'>, unread: Unread, asked: WaitAsked): Answer {
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
  const { above, body, notes } = partsOf(unread)
  const page = {
    head: `${happened}${describeProcess(process)}${above}`,
    body,
    notes: [...notes, ...(asked.notes ?? [])],
  }
  return {
    structured: { type: answer, line, finished, ...structuredUnread(unread) },
    text: pageOf(page, asked.maxChars),
  }
}

/** The result of a finished wait, as far as the status of the process does not say it. */
export function settledText(
  answer: Exclude<OutputOf<'wait'>['type'], 'interrupted' | 'timed_out'>,
  awaited: 'line' | 'ready' | undefined,
  finished: boolean,
): string {
  if (answer === 'ready') return finished ? 'It was ready, and has ended since. ' : 'It is ready. '
  if (answer === 'not_ready') return 'It was not ready in time. '
  if (answer === 'matched' || awaited === undefined) return ''
  return awaited === 'line' ? 'It ended without printing that. ' : 'It ended and was never ready. '
}

export function printedText(line: string): string {
  return `Printed: ${firstLine(line, LINE_CHARS)}\n`
}

/** The awaited condition, unless that is the end. */
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

/** The last matching version of a line that was overwritten with `\\r`, as progress bars are. */
export function lastPrinted(line: string, wanted: string | undefined): string {
  const versions = line.split('\r').filter((version) => version.trim() !== '')
  const last = versions.findLast((version) => wanted === undefined || version.includes(wanted))
  return (last ?? versions.at(-1) ?? line).trim()
}
