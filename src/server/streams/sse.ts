import { nextCursor, offsetText } from './asked.ts'
import { isText, type Page, type Stream } from './stream.ts'

/**
 * A stream as server-sent events, from a page that has been read: each `data` is followed by a `control` with the next
 * offset. An error ends the stream: a reader that asks again gets the error.
 */
export async function* sseOf(
  stream: Stream,
  first: Page,
  cursor: string | null,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, void, void> {
  const utf8 = new TextEncoder()
  let page = first
  for (let said = -1; ; said = page.next) {
    if (!page.isEmpty) yield utf8.encode(dataOf(stream, page))
    if (!page.isEmpty || page.closed || said !== page.next)
      yield utf8.encode(event('control', control(page, cursor)))
    if (page.closed) return
    try {
      if (page.upToDate) await stream.wait(page, signal)
      if (signal.aborted) return
      page = await stream.read(page.next, 'piece')
    } catch {
      return
    }
  }
}

/** Every line of a text becomes a data line, so that no text is taken for the protocol. */
function dataOf({ contentType }: Stream, { body }: Page): string {
  if (!isText(contentType)) return event('data', Buffer.from(body).toString('base64'))
  const text = typeof body === 'string' ? body : Buffer.from(body).toString('utf8')
  const [first = '', ...more] = text.split(/\r\n|[\r\n]/).map(asItIs)
  return event('data', [first, ...more.map((line) => `\ndata:${line}`)].join(''))
}

/** A reader removes one leading space. */
function asItIs(line: string): string {
  return line.startsWith(' ') ? ` ${line}` : line
}

function control({ next, upToDate, closed }: Page, cursor: string | null): string {
  return JSON.stringify({
    streamNextOffset: offsetText(next),
    ...(closed ? { streamClosed: true } : { streamCursor: nextCursor(cursor, Date.now()) }),
    ...(upToDate ? { upToDate: true } : {}),
  })
}

function event(name: string, data: string): string {
  return `event: ${name}\ndata:${data}\n\n`
}
