import { nextCursor, offsetText } from './asked.ts'
import type { Page, Stream } from './stream.ts'

/**
 * A stream as server-sent events, from a page that has been read: each `data` is followed by a `control` that says where
 * to go on. What goes wrong on the way ends it: whoever asks again from there is told why.
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
    if (!page.isEmpty) yield utf8.encode(event('data', dataOf(page)))
    if (!page.isEmpty || page.closed || said !== page.next)
      yield utf8.encode(event('control', control(page, cursor)))
    if (page.closed) return
    if (page.upToDate) await stream.wait(page, signal)
    if (signal.aborted) return
    try {
      page = await stream.read(page.next, 'piece')
    } catch {
      return
    }
  }
}

function dataOf({ body }: Page): string {
  return typeof body === 'string' ? body : Buffer.from(body).toString('base64')
}

function control({ next, upToDate, closed }: Page, cursor: string | null): string {
  return JSON.stringify({
    streamNextOffset: offsetText(next),
    ...(closed ? { streamClosed: true } : { streamCursor: nextCursor(cursor, Date.now()) }),
    ...(upToDate ? { upToDate: true } : {}),
  })
}

/** Neither base64 nor JSON on one line has a line break. */
function event(name: string, data: string): string {
  return `event: ${name}\ndata:${data}\n\n`
}
