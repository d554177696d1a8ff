import { ReeveError } from '../../core/errors.ts'
import type { ProcessRecord } from '../../core/process/record.ts'
import type { OutputOf, ReeveVerbs } from '../../verbs/reeve.ts'
import type { Page, Stream } from './stream.ts'

const MAX_BYTES = { page: 1024 * 1024, piece: 64 * 1024 } as const

/** Whether secrets are shown: recorded with the process, or to a person at a terminal. */
export interface OutputView {
  readonly reveal?: boolean
  readonly terminal?: boolean
}

/**
 * The output log of a command or an agent, as bytes; offsets are those of the log. Programs that it left running may print after its
 * end: that output is late, and not part of the stream.
 *
 * | at the offset there is      | answer                                        |
 * | output                      | the output, up to the next gap or the end     |
 * | a gap                       | `gap`, with where it ends                     |
 * | nothing, and it still runs  | nothing, up to date                           |
 * | nothing, and it has ended   | nothing, closed                               |
 */
export function outputStream(acting: ReeveVerbs, pid: string, view: OutputView = {}): Stream {
  return {
    contentType: 'application/octet-stream',
    async tail() {
      const record = await acting.show({ pid })
      const { end } = await acting.output({ pid, limit: 1, ...view })
      return { at: finalOf(record, end) ?? end, closed: record.outcome !== null }
    },
    async read(from, most) {
      // Before the log is read, so that an outcome implies that all its output is in the log.
      const record = await acting.show({ pid })
      const page = await acting.output({ pid, offset: from, limit: MAX_BYTES[most], ...view })
      const final = finalOf(record, page.end)
      const of = record.pid
      if (final !== null && from >= final)
        return { ...NOTHING, of, next: from, closed: true, headers: outcomeHeader(record) }
      if (page.gap !== null) throw gapAt(record, page.gap, final)
      const bytes = pageOf(page, from, final)
      return bytes.closed ? { of, ...bytes, headers: outcomeHeader(record) } : { of, ...bytes }
    },
    async wait({ next }, signal) {
      for await (const _ of acting.followOutput({ pid, offset: next, ...view }, { signal })) return
    },
  }
}

const NOTHING = { body: new Uint8Array(), isEmpty: true, upToDate: true, closed: false, heardUpTo: 0 }

function pageOf({ bytes, end }: OutputOf<'output'>, from: number, final: number | null): Omit<Page, 'of'> {
  // A program that writes its log itself may have truncated it, and writes on from there.
  if (bytes.length === 0) return { ...NOTHING, next: final === null ? Math.min(from, end) : from }
  const body = final === null ? bytes : bytes.subarray(0, final - from)
  const next = from + body.length
  const closed = final !== null && next >= final
  return { body, isEmpty: false, next, upToDate: closed || next >= end, closed, heardUpTo: 0 }
}

/**
 * The outcome, with the page that closes the stream: a reader that follows a command to its end needs no second request. Left
 * out if it is larger than a header may be.
 */
function outcomeHeader({ outcome }: ProcessRecord): Readonly<Record<string, string>> {
  const text = JSON.stringify(outcome).replace(/[\u007f-\uffff]/g, escaped)
  return text.length > MAX_HEADER_CHARS ? {} : { 'Reeve-Outcome': text }
}

const MAX_HEADER_CHARS = 4_096

/** A header is ASCII. */
function escaped(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
}

/** The end of the output of a command that has ended, as its outcome says, or the end of the log if that is shorter. */
function finalOf({ kind, outcome }: ProcessRecord, end: number): number | null {
  if (outcome === null) return null
  if (kind !== 'command') return end
  const { outputBytes } = (outcome.result ?? {}) as { outputBytes?: unknown }
  return typeof outputBytes === 'number' ? Math.min(outputBytes, end) : end
}

function gapAt(
  { pid }: ProcessRecord,
  gap: NonNullable<OutputOf<'output'>['gap']>,
  final: number | null,
): ReeveError {
  const { from } = gap
  const to = final === null ? gap.to : Math.min(gap.to, final)
  return new ReeveError(
    'gap',
    `The output of ${pid} from byte ${from} to ${to} is no longer kept.`,
    `Continue from offset ${to}.`,
    { details: { from, to } },
  )
}
