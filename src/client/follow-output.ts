import { ReeveError } from '../core/errors.ts'
import type { OutputPiece } from '../verbs/attachment.ts'
import type { CallOptions, OutputOf, ReeveVerbs } from '../verbs/reeve.ts'
import { call, type Line } from './call.ts'
import { type Page, readPage } from './read-stream.ts'

type Gap = NonNullable<OutputPiece['gap']>
type Outcome = NonNullable<OutputPiece['outcome']>

/**
 * Every byte once, from an offset on, until the command has ended; each gap is named with the piece behind it, and the last
 * piece has the outcome. A broken connection, or a new daemon, is resumed at the byte where the old one broke.
 */
export async function* followOutput(
  line: Line,
  { pid, offset: from = 0, reveal = false, terminal = false }: Parameters<ReeveVerbs['followOutput']>[0],
  { signal }: CallOptions,
): AsyncGenerator<OutputPiece, void, void> {
  const stop = new AbortController()
  const either = signal === undefined ? stop.signal : AbortSignal.any([signal, stop.signal])
  const path = `/processes/${encodeURIComponent(pid)}/output/stream`
  const query = { ...(reveal ? { reveal: 'true' } : {}), ...(terminal ? { terminal: 'true' } : {}) }
  let offset = from
  let gap: Gap | null = null
  try {
    while (!either.aborted) {
      const page = await pageOrGap(line, path, { offset, query }, either)
      if ('from' in page) {
        gap = gap === null ? page : { from: gap.from, to: page.to }
        offset = page.to
        continue
      }
      const cut = yield* piecesOf(page, offset, gap)
      if (cut.offset > offset) gap = null
      offset = cut.offset
      if (cut.broken) continue
      if (page.closed) {
        const outcome = page.outcome ?? (await outcomeOf(line, pid, either))
        yield { offset, bytes: new Uint8Array(), gap, ...(outcome === null ? {} : { outcome }) }
        return
      }
    }
  } catch (error) {
    if (!either.aborted) throw error
  } finally {
    // Releases the connection when the caller stops in the middle of a page.
    stop.abort()
  }
}

/** The bytes of a page as they arrive. A page that breaks off is requested again from there. */
async function* piecesOf(
  page: Page,
  from: number,
  gap: Gap | null,
): AsyncGenerator<OutputPiece, { readonly offset: number; readonly broken: boolean }, void> {
  let offset = from
  const pieces = (page.answered.body as AsyncIterable<Buffer>)[Symbol.asyncIterator]()
  while (true) {
    const next = await pieces.next().catch(() => null)
    if (next === null) return { offset, broken: true }
    if (next.done === true) return { offset, broken: false }
    const bytes = next.value
    yield { offset, bytes, gap: offset === from ? gap : null }
    offset += bytes.length
  }
}

async function pageOrGap(
  line: Line,
  path: string,
  asked: { readonly offset: number; readonly query: Readonly<Record<string, string>> },
  signal: AbortSignal,
): Promise<Page | Gap> {
  try {
    return await readPage(line, path, { ...asked, live: true }, signal)
  } catch (error) {
    const gap = gapIn(error)
    if (gap === null || gap.to <= asked.offset) throw error
    return gap
  }
}

/** Of a daemon that did not send it with the last page: an older one, or an outcome too large for a header. */
async function outcomeOf(line: Line, pid: string, signal: AbortSignal): Promise<Outcome | null> {
  const { outcome } = (await call(line, 'show', { pid }, { signal })) as OutputOf<'show'>
  return outcome
}

function gapIn(error: unknown): Gap | null {
  if (!(error instanceof ReeveError) || (error.code as string) !== 'gap') return null
  const { from, to } = error.details
  return typeof from === 'number' && typeof to === 'number' ? { from, to } : null
}
