import type { Asked } from './asked.ts'
import { askedOf, nextCursor, offsetText } from './asked.ts'
import { sseOf } from './sse.ts'
import { isJson, isText, type Page, type Stream } from './stream.ts'

export interface StreamTimes {
  /** How long a long poll is held while there is nothing new. */
  readonly pollMs: number
  /** How long a stream of server-sent events lasts before its reader has to ask again. */
  readonly sseMs: number
}

export const STREAM_TIMES: StreamTimes = { pollMs: 25_000, sseMs: 60_000 }

export interface Reader {
  readonly times: StreamTimes
  /** Aborted when the reader is gone, or the server closes. */
  readonly signal: AbortSignal
  whenSent(done: () => void): void
}

/** One answer of a stream, to a `GET` or a `HEAD`: existing content, content that comes within the time, or server-sent events. */
export async function streamAnswer(
  stream: Stream,
  request: Request,
  { times: { pollMs, sseMs }, signal, whenSent }: Reader,
): Promise<Response> {
  if (request.method === 'HEAD') return headOf(stream)
  const asked = askedOf(request)
  const first = asked.from === 'now' ? await nothingAt(stream) : await stream.read(asked.from, 'page')
  if (asked.live === 'sse') {
    const until = AbortSignal.any([signal, AbortSignal.timeout(sseMs)])
    return new Response(ReadableStream.from(sseOf(stream, first, asked.cursor, until)), {
      headers: {
        'Content-Type': 'text/event-stream',
        'Cache-Control': 'no-cache',
        ...(isText(stream.contentType) ? {} : { 'Stream-SSE-Data-Encoding': 'base64' }),
      },
    })
  }
  const page =
    asked.live === null
      ? first
      : await whenThereIsMore(stream, first, AbortSignal.any([signal, AbortSignal.timeout(pollMs)]))
  const { body } = page
  if (typeof body !== 'string' && body.length > 0) whenSent(() => freeMemory(body))
  return answered(stream, page, asked)
}

/**
 * Frees the memory of a page at once. Left to the garbage collector, the pages of one long log cause full collections again
 * and again, which took more than half of the time of sending them.
 */
function freeMemory({ buffer, byteLength }: Uint8Array): void {
  const isUnshared = buffer instanceof ArrayBuffer && !buffer.detached && byteLength > buffer.byteLength / 2
  if (isUnshared && byteLength > MAX_POOLED_BYTES) buffer.transfer(0)
}

/** Node allocates small buffers from a shared pool. */
const MAX_POOLED_BYTES = 64 * 1024

/** The head of a stream: where it ends now. */
async function headOf(stream: Stream): Promise<Response> {
  const { at, closed } = await stream.tail()
  const headers = { 'Content-Type': stream.contentType, 'Stream-Next-Offset': offsetText(at) }
  return new Response(null, { headers: { ...headers, ...(closed ? { 'Stream-Closed': 'true' } : {}) } })
}

async function nothingAt(stream: Stream): Promise<Page> {
  const { at } = await stream.tail()
  const { heardUpTo, ...page } = await stream.read(at, 'page')
  // Content that came between the two calls belongs to the next page.
  const nothing = isJson(stream.contentType) ? '[]' : new Uint8Array()
  const isClosed = page.closed && page.isEmpty
  const empty = { of: page.of, body: nothing, isEmpty: true }
  return { ...empty, next: at, upToDate: page.isEmpty, closed: isClosed, heardUpTo }
}

async function whenThereIsMore(stream: Stream, first: Page, signal: AbortSignal): Promise<Page> {
  let page = first
  while (page.isEmpty && !page.closed && !signal.aborted) {
    if (page.upToDate) await stream.wait(page, signal)
    if (signal.aborted) break
    page = await stream.read(page.next, 'page')
  }
  return page
}

function answered(stream: Stream, page: Page, { from, live, cursor, has }: Asked): Response {
  const tag = from === 'now' ? null : tagOf(page, from)
  const headers = {
    'Stream-Next-Offset': offsetText(page.next),
    ...(page.upToDate ? { 'Stream-Up-To-Date': 'true' } : {}),
    ...(page.closed ? { 'Stream-Closed': 'true' } : {}),
    ...(live === null || page.closed ? {} : { 'Stream-Cursor': nextCursor(cursor, Date.now()) }),
    ...page.headers,
  }
  if (live !== null && page.isEmpty) return new Response(null, { status: 204, headers })
  const tagged = tag === null ? headers : { ...headers, ETag: tag }
  if (tag !== null && has.includes(tag)) return new Response(null, { status: 304, headers: tagged })
  return new Response(page.body as string | Uint8Array<ArrayBuffer>, {
    headers: { 'Content-Type': stream.contentType, ...tagged },
  })
}

/** Content between two offsets never changes in most streams. That the stream is closed may be new. */
function tagOf({ of, next, closed }: Page, from: Asked['from']): string | null {
  return of === null ? null : `"${of}:${from}:${next}${closed ? ':c' : ''}"`
}
