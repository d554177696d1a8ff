import { ReeveError } from '../core/errors.ts'
import type { ReeveVerbs } from '../verbs/reeve.ts'
import { endOfOutput } from './end-of-output.ts'
import { type Polled, pollWithRetry } from './poll-with-retry.ts'
import { leftBehindNote } from './process-sentences.ts'
import { type ProcessView, structuredView, viewOf } from './process-view.ts'
import type { ClientSession } from './session.ts'

/** The output of a command that a session has not read yet, as a terminal would show it. */
export interface Unread {
  readonly process: ProcessView
  /** The daemon went away during a read, so some output may be lost to this reader. */
  readonly isRetried: boolean
  readonly output: string
  /** There is more unread output: process_poll goes on. */
  readonly more: boolean
  /** Bytes of the log that were removed. */
  readonly lost: readonly { readonly from: number; readonly to: number }[]
  /** Where this output ends, in bytes: `until.from` for later output. */
  readonly readTo: number
  /** Since when a full disk holds its output back. */
  readonly heldBackSince: number | null
}

export interface Reading {
  /** How many characters of output to read. */
  readonly room: number
  readonly turn: string
  /** Reads from this offset, and moves no read position. */
  readonly from?: number
  /** The session as this connection sees it: it shows the end of a long output once, and then page after page. */
  readonly session?: Pick<ClientSession, 'shownEnds'>
}

const NO_OUTPUT: readonly string[] = ['not_command', 'no_output', 'not_served']
const TAIL_LINES = 200
/** The end of an output is shown if at least this much fits. */
const MIN_TAIL_CHARS = 100
/** In a complete long output the end matters most: failures and totals stand there. */
const FIRST_PART = 0.35
const LEFT_OUT =
  '[… left out: process_poll reads on from here; process_log and process_search read all of it …]'

/**
 * Reads on where the session stopped, or from an offset. It reads exactly the shown text, so that the next read continues
 * after it. Processes without an output log have printed nothing. A reader that sees the end of the process here gets its
 * notice in the next `turn`, and not in this one.
 */
export async function readUnread(acting: ReeveVerbs, pid: string, reading: Reading): Promise<Unread> {
  try {
    return await readPage(acting, pid, reading)
  } catch (error) {
    if (!(error instanceof ReeveError) || !NO_OUTPUT.includes(error.code)) throw error
    const process = viewOf(await acting.show({ pid }))
    return { process, output: '', more: false, lost: [], readTo: 0, isRetried: false, heldBackSince: null }
  }
}

async function readPage(acting: ReeveVerbs, pid: string, reading: Reading): Promise<Unread> {
  const { room, turn, from, session } = reading
  const firstRoom = Math.max(1, Math.floor(room * FIRST_PART))
  const common = { pid, turn, ansi: 'render' } as const
  const at = from === undefined ? {} : { cursor: `o${from}` }
  const first = await pollWithRetry(acting, { ...common, ...at, maxChars: firstRoom })
  const process = viewOf(first.record)
  if (!first.more) return unreadOf(process, first)
  const rest = { ...common, maxChars: Math.max(1, room - first.text.length) }
  const goOn = () => pollWithRetry(acting, from === undefined ? rest : { ...rest, cursor: first.cursor })
  const tailRoom = room - first.text.length - LEFT_OUT.length - 2
  const isEndShown = session?.shownEnds.has(process.pid) === true
  const isLong = process.endedAt !== null && tailRoom > MIN_TAIL_CHARS && !isEndShown
  // With a cursor the read position stays: omitted output stays unread.
  if (isLong && (await pollWithRetry(acting, { ...rest, cursor: first.cursor })).more) {
    session?.shownEnds.add(process.pid)
    const last = await endOfOutput(acting, pid, { chars: tailRoom, lines: TAIL_LINES })
    const seam = first.text.endsWith('\n') ? '' : '\n'
    return unreadOf(process, first, { text: `${seam}${LEFT_OUT}\n${last}` })
  }
  return unreadOf(process, first, await goOn())
}

/** Joins two consecutive pages, or a page and the text that replaces all later output. */
function unreadOf(process: ProcessView, first: Polled, second?: Polled | { readonly text: string }): Unread {
  const last = second !== undefined && 'cursor' in second ? second : first
  return {
    process,
    output: `${first.text}${second?.text ?? ''}`,
    more: last.more,
    lost: last === first ? first.truncated : [...first.truncated, ...last.truncated],
    // An output cursor is an offset with a letter before it.
    readTo: Number(last.cursor.slice(1)),
    isRetried: first.isRetried || last.isRetried,
    heldBackSince: last.heldBack?.since ?? null,
  }
}

/** The parts of a page that show an output. */
export interface UnreadParts {
  /** Before the output. */
  readonly above: string
  readonly body: string
  readonly notes: readonly string[]
}

export function partsOf(unread: Unread): UnreadParts {
  const { output, more, lost, readTo, process, isRetried, heldBackSince } = unread
  const isRunning = process.endedAt === null
  const notes = [
    ...(more && !output.includes(LEFT_OUT) ? ['there is more: process_poll'] : []),
    ...(isRunning ? [`read to ${readTo}`] : []),
  ]
  const above = [
    ...(isRetried ? ['[The daemon was unreachable for a moment; process_log has all output.]'] : []),
    ...(lost.length === 0 ? [] : ['[Some earlier output was removed.]']),
  ]
  return {
    above: above.map((line) => `\n${line}`).join(''),
    body: output.trim() === '' ? '(no new output)' : output.trimEnd(),
    notes: [
      ...(notes.length === 0 ? [] : [`[${notes.join('; ')}]`]),
      ...heldBackNote(heldBackSince),
      ...leftBehindNote(process),
    ],
  }
}

/** A command that waits for the disk looks as if it hung. */
function heldBackNote(since: number | null): string[] {
  if (since === null) return []
  const time = new Date(since).toISOString()
  return [
    `[Its output has been held back since ${time}, because the disk is full or nearly full: it waits. Free disk space and it goes on.]`,
  ]
}

/** The same for programs. */
export function structuredUnread(unread: Unread): object {
  const { process, output, more, lost, readTo, heldBackSince } = unread
  const held = heldBackSince === null ? {} : { heldBackSince: new Date(heldBackSince).toISOString() }
  return { process: structuredView(process), output, more, lost, readTo, ...held }
}
