import * as z from 'zod'
import { ReeveError } from '../core/errors.ts'
import type { Acting, InputOf } from '../verbs/reeve.ts'
import { gaps } from '../verbs/shapes/output.ts'
import { count } from '../verbs/shapes/scalars.ts'
import { endOfOutput } from './end-of-output.ts'
import { type ProcessView, viewOf } from './process-view.ts'

/** What a session has not read yet of a command's output. */
export const unreadOutput = {
  output: z.string().describe('what was printed since this session last read it'),
  more: z.boolean().describe('there is more to read already: process_poll goes on'),
  lost: gaps.describe('bytes of the log that are not kept any more'),
  readTo: count.describe('how far into the output this is, in bytes: until.from for what comes behind it'),
}

export interface Unread {
  readonly process: ProcessView
  /** The daemon went away as it was asked, and what it answered with may have been lost on the way. */
  readonly askedAgain: boolean
  readonly output: string
  readonly more: boolean
  readonly lost: { from: number; to: number }[]
  readonly readTo: number
}

const NO_OUTPUT: readonly string[] = ['not_command', 'no_output', 'not_served']
const TAIL_LINES = 200
const MOST_POLLS = 3

/**
 * Reads on where the session stopped reading, or from an offset, and then does not count as having read. Processes without
 * output have printed nothing. It is a look: whoever is told of the end is told in the next `turn`, and not in this one.
 */
export async function readUnread(
  acting: Acting,
  pid: string,
  { maxChars, turn, from }: { readonly maxChars: number; readonly turn: string; readonly from?: number },
): Promise<Unread> {
  try {
    const asking = { pid, maxChars, turn, ...(from === undefined ? {} : { cursor: `o${from}` }) }
    const { record, text, more, cursor, truncated: lost, askedAgain } = await pollOrAgain(acting, asking)
    const process = viewOf(record)
    const isLong = more && process.endedAt !== null
    const output = isLong ? await bothEnds(acting, pid, text, maxChars) : text
    // A cursor of output is an offset with a letter before it.
    return { process, output, more, lost, readTo: Number(cursor.slice(1)), askedAgain }
  } catch (error) {
    if (!(error instanceof ReeveError) || !NO_OUTPUT.includes(error.code)) throw error
    const process = viewOf(await acting.show({ pid }))
    return { process, output: '', more: false, lost: [], readTo: 0, askedAgain: false }
  }
}

/** A poll notes how far it came, so a client does not repeat it by itself. Here it is said if that may have cost something. */
async function pollOrAgain(acting: Acting, asking: InputOf<'poll'>) {
  for (let asked = 1; ; asked++) {
    try {
      return { ...(await acting.poll(asking)), askedAgain: asked > 1 }
    } catch (error) {
      const isGone = error instanceof ReeveError && error.code === 'daemon_unreachable'
      if (!isGone || asked === MOST_POLLS) throw error
      // This waits for the daemon to come back, and finds a connection to it.
      await acting.show({ pid: asking.pid })
    }
  }
}

/** Of a long output that is complete the end tells most: failures and totals stand there. */
async function bothEnds(acting: Acting, pid: string, text: string, maxChars: number): Promise<string> {
  const last = await endOfOutput(acting, pid, { chars: Math.floor(maxChars * 0.6), lines: TAIL_LINES })
  const first = text.slice(0, Math.floor(maxChars * 0.3))
  return `${first}\n[… left out: process_log and process_search read all of it …]\n${last}`
}

/** Output as it is shown to a model, with what it should know about it. */
export function shown({ output, more, lost, readTo, process, askedAgain }: Unread): string {
  const lostText = lost.length === 0 ? '' : '[Some output before this is not kept any more.]\n'
  const again = askedAgain ? '[The daemon was away for a moment; process_log has all output.]\n' : ''
  const gap = `${again}${lostText}`
  const notes =
    process.endedAt === null ? [...(more ? ['there is more: process_poll'] : []), `read to ${readTo}`] : []
  const rest = notes.length === 0 ? '' : `\n[${notes.join('; ')}]`
  return output.trim() === '' ? `${gap}(no new output)${rest}` : `${gap}${output.trimEnd()}${rest}`
}
