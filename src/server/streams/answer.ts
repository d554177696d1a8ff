import type { Asked } from './asked.ts'
import { askedOf, nextCursor, offsetText } from './asked.ts'
import { sseOf } from './sse.ts'
import { isJson, isText, type Page, type Stream } from './stream.ts'

export interface StreamTimes {
  /** How long a long poll is held when there is nothing to tell. */
  readonly pollMs: number
  /** After how long a reader of events has to ask again. */
  readonly sseMs: number
}

export const STREAM_TIMES: StreamTimes = { pollMs: 25_000, sseMs: 60_000 }

export interface Reader {
  readonly times: StreamTimes
  /** The reader is gone, or the server is about to. */
  readonly signal: AbortSignal
  whenSent(done: () => void): void
}

/** One answer of a stream, to a `GET` or a `HEAD`: what there is, what comes within the time, or a flow of events. */
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
  if (typeof body !== 'string' && body.length > 0) whenSent(() => letGo(body))
  return answered(stream, page, asked)
}

/**
 * Gives the memory of a page back at once. Left to the garbage collector, the pages of one long log are reason enough for
 * it to go through everything there is, again and again: that took more than half of the time of sending them.
 */
function letGo({ buffer, byteLength }: Uint8Array): void {
  const isItsOwn = buffer instanceof ArrayBuffer && !buffer.detached && byteLength > buffer.byteLength / 2
  if (isItsOwn && byteLength > SMALL) buffer.transfer(0)
}

/** Node cuts small buffers out of a larger one that it shares. */
const SMALL = 64 * 1024

/** The head of a stream: where it ends now. */
async function headOf(stream: Stream): Promise<Response> {
  const { at, closed } = await stream.tail()
  const headers = { 'Content-Type': stream.contentType, 'Stream-Next-Offset': offsetText(at) }
  return new Response(null, { headers: { ...headers, ...(closed ? { 'Stream-Closed': 'true' } : {}) } })
}

async function nothingAt(stream: Stream): Promise<Page> {
  const { at } = await stream.tail()
  const { heardUpTo, ...page } = await stream.read(at, 'page')
  // What came between the two is left for whoever goes on from here.
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

/** What lies between two offsets never changes, of most; that nothing will follow it may be news. */
function tagOf({ of, next, closed }: Page, from: Asked['from']): string | null {
  return of === null ? null : `"${of}:${from}:${next}${closed ? ':c' : ''}"`
}
