import type { OutputPiece } from '../verbs/attachment.ts'
import { type Line, textOf } from './call.ts'
import { errorOf } from './problem.ts'
import { retrying } from './retry.ts'
import type { Answered } from './transport.ts'

/** One answer of a stream: content from an offset on, or nothing after a timeout. */
export interface Page {
  readonly answered: Answered
  /** The offset after this page. */
  readonly next: number
  /** There is no more content now: the next request waits. */
  readonly upToDate: boolean
  /** There will never be more content. */
  readonly closed: boolean
  /** With the page that closes the output of a command. */
  readonly outcome: NonNullable<OutputPiece['outcome']> | undefined
}

/**
 * Requests the page of a stream that begins at an offset, and repeats that until a daemon answers. With `live` the daemon
 * delays the answer until there is content.
 */
export async function readPage(
  line: Line,
  path: string,
  asked: {
    readonly offset: number
    readonly live: boolean
    readonly query?: Readonly<Record<string, string>>
  },
  signal: AbortSignal,
): Promise<Page> {
  const query = new URLSearchParams({
    ...asked.query,
    offset: String(asked.offset).padStart(16, '0'),
    ...(asked.live ? { live: 'long-poll' } : {}),
  })
  const { transport, headers } = line
  const attempt = async () => {
    const answered = await transport.ask({ method: 'GET', path: `/v1${path}?${query}`, headers, signal })
    if (answered.status === 200 || answered.status === 204) return answered
    throw errorOf(answered.status, await textOf(transport, answered, signal))
  }
  const forMs = Number.POSITIVE_INFINITY
  const hasAnswered = () => transport.hasAnswered
  const answered = await retrying(attempt, { safe: true, forMs, signal, hasAnswered, revive: line.revive })
  const header = (name: string) => answered.headers[name]
  const outcome = header('reeve-outcome')
  return {
    answered,
    next: Number(header('stream-next-offset') ?? asked.offset),
    upToDate: header('stream-up-to-date') === 'true',
    closed: header('stream-closed') === 'true',
    outcome: typeof outcome === 'string' ? JSON.parse(outcome) : undefined,
  }
}
