import { ReeveError } from '../core/errors.ts'
import type { ReeveVerbs } from '../verbs/reeve.ts'
import { endOfOutput } from './end-of-output.ts'
import { type Polled, pollOrAgain } from './poll-again.ts'
import { type ProcessView, structuredView, viewOf } from './process-view.ts'
import type { ClientSession } from './session.ts'
import { leftBehindNote } from './words.ts'

/** What a session has not read yet of a command's output, as a terminal would show it. */
export interface Unread {
  readonly process: ProcessView
  /** The daemon went away as it was asked, and what it answered with may have been lost on the way. */
  readonly askedAgain: boolean
  readonly output: string
  /** There is more to read already: process_poll goes on. */
  readonly more: boolean
  /** Bytes of the log that are not kept any more. */
  readonly lost: readonly { readonly from: number; readonly to: number }[]
  /** How far into the output this is, in bytes: `until.from` for what comes behind it. */
  readonly readTo: number
  /** Since when the disk takes no output of it. */
  readonly heldBackSince: number | null
}

export interface Reading {
  /** How many characters of output to read. */
  readonly room: number
  readonly turn: string
  /** Reads from this offset, and then does not count as having read. */
  readonly from?: number
  /** The session as this connection has it: it is shown the end of a long output once, and then page after page. */
  readonly session?: Pick<ClientSession, 'shownEnds'>
}

const NO_OUTPUT: readonly string[] = ['not_command', 'no_output', 'not_served']
const TAIL_LINES = 200
/** The end of an output is shown where so much of it fits. */
const MIN_TAIL_CHARS = 100
/** Of a long output that is complete the end tells most: failures and totals stand there. */
const FIRST_PART = 0.35
const LEFT_OUT =
  '[… left out: process_poll reads on from here; process_log and process_search read all of it …]'

/**
 * Reads on where the session stopped reading, or from an offset. What is read is what is shown, so that the next read goes on
 * behind it. Processes without output have printed nothing. It is a look: whoever is told of the end is told in the next
 * `turn`, and not in this one.
 */
export async function readUnread(acting: ReeveVerbs, pid: string, reading: Reading): Promise<Unread> {
  try {
    return await readPage(acting, pid, reading)
  } catch (error) {
    if (!(error instanceof ReeveError) || !NO_OUTPUT.includes(error.code)) throw error
    const process = viewOf(await acting.show({ pid }))
    return { process, output: '', more: false, lost: [], readTo: 0, askedAgain: false, heldBackSince: null }
  }
}

async function readPage(acting: ReeveVerbs, pid: string, reading: Reading): Promise<Unread> {
  const { room, turn, from, session } = reading
  const firstRoom = Math.max(1, Math.floor(room * FIRST_PART))
  const common = { pid, turn, ansi: 'render' } as const
  const at = from === undefined ? {} : { cursor: `o${from}` }
  const first = await pollOrAgain(acting, { ...common, ...at, maxChars: firstRoom })
  const process = viewOf(first.record)
  if (!first.more) return unreadOf(process, first)
  const rest = { ...common, maxChars: Math.max(1, room - first.text.length) }
  const goOn = () => pollOrAgain(acting, from === undefined ? rest : { ...rest, cursor: first.cursor })
  const tailRoom = room - first.text.length - LEFT_OUT.length - 2
  const isEndShown = session?.shownEnds.has(process.pid) === true
  const isLong = process.endedAt !== null && tailRoom > MIN_TAIL_CHARS && !isEndShown
  // Only a look: what is left out stays unread.
  if (isLong && (await pollOrAgain(acting, { ...rest, cursor: first.cursor })).more) {
    session?.shownEnds.add(process.pid)
    const last = await endOfOutput(acting, pid, { chars: tailRoom, lines: TAIL_LINES })
    const seam = first.text.endsWith('\n') ? '' : '\n'
    return unreadOf(process, first, { text: `${seam}${LEFT_OUT}\n${last}` })
  }
  return unreadOf(process, first, await goOn())
}

/** Two stretches of output that follow one another, or one and what is shown in place of all behind it. */
function unreadOf(process: ProcessView, first: Polled, second?: Polled | { readonly text: string }): Unread {
  const last = second !== undefined && 'cursor' in second ? second : first
  return {
    process,
    output: `${first.text}${second?.text ?? ''}`,
    more: last.more,
    lost: last === first ? first.truncated : [...first.truncated, ...last.truncated],
    // A cursor of output is an offset with a letter before it.
    readTo: Number(last.cursor.slice(1)),
    askedAgain: first.askedAgain || last.askedAgain,
    heldBackSince: last.heldBack?.since ?? null,
  }
}

/** The parts of a page that tell of an output. */
export interface UnreadShown {
  /** Before the output. */
  readonly above: string
  readonly body: string
  readonly notes: readonly string[]
}

export function shown(unread: Unread): UnreadShown {
  const { output, more, lost, readTo, process, askedAgain, heldBackSince } = unread
  const isRunning = process.endedAt === null
  const notes = [
    ...(more && !output.includes(LEFT_OUT) ? ['there is more: process_poll'] : []),
    ...(isRunning ? [`read to ${readTo}`] : []),
  ]
  const above = [
    ...(askedAgain ? ['[The daemon was away for a moment; process_log has all output.]'] : []),
    ...(lost.length === 0 ? [] : ['[Some output before this is not kept any more.]']),
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

/** A command that waits for the disk looks as if it hangs. */
function heldBackNote(since: number | null): string[] {
  if (since === null) return []
  const time = new Date(since).toISOString()
  return [
    `[Its output has been held back since ${time}, because the disk is full or nearly so: it waits. Free disk space and it goes on.]`,
  ]
}

/** The same for programs. */
export function structuredUnread(unread: Unread): object {
  const { process, output, more, lost, readTo, heldBackSince } = unread
  const held = heldBackSince === null ? {} : { heldBackSince: new Date(heldBackSince).toISOString() }
  return { process: structuredView(process), output, more, lost, readTo, ...held }
}
