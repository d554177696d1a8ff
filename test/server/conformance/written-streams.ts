import { isJson, type Page, type Stream } from '../../../src/server/streams/stream.ts'

/** Streams in memory that can be written to, so that a suite can fill what Reeve's server then serves. */
export class WrittenStreams {
  readonly #streams = new Map<string, WrittenStream>()

  find(path: string): WrittenStream | undefined {
    return this.#streams.get(path)
  }

  /** `PUT`, `POST` and `DELETE`, as far as the suite needs them to have something to read. */
  async write(request: Request, path: string): Promise<Response> {
    const stream = this.#streams.get(path)
    if (request.method === 'PUT') return this.#create(request, path, stream)
    if (stream === undefined) return answer(404)
    if (request.method === 'DELETE') {
      this.#streams.delete(path)
      return answer(204)
    }
    return append(request, stream)
  }

  async #create(request: Request, path: string, known: WrittenStream | undefined): Promise<Response> {
    const contentType = typeOf(request) ?? 'application/octet-stream'
    const closes = request.headers.get('stream-closed') === 'true'
    if (known !== undefined) {
      const isSame = known.contentType === contentType && known.closed === closes
      return answer(isSame ? 200 : 409, known)
    }
    const stream = new WrittenStream(path, contentType)
    const body = new Uint8Array(await request.arrayBuffer())
    if (body.length > 0 && !stream.append(body, 'first')) return answer(400)
    if (closes) stream.close()
    this.#streams.set(path, stream)
    return answer(201, stream, { Location: request.url })
  }
}

async function append(request: Request, stream: WrittenStream): Promise<Response> {
  const body = new Uint8Array(await request.arrayBuffer())
  const closes = request.headers.get('stream-closed') === 'true'
  if (body.length === 0 && !closes) return answer(400)
  if (stream.closed) return answer(body.length === 0 ? 204 : 409, stream)
  if (body.length > 0) {
    const contentType = typeOf(request)
    if (contentType === null) return answer(400)
    if (contentType !== stream.contentType) return answer(409, stream)
    if (!stream.append(body, 'later', closes)) return answer(400)
  } else stream.close()
  return answer(204, stream)
}

function answer(status: number, stream?: WrittenStream, more: Record<string, string> = {}): Response {
  const about =
    stream === undefined
      ? {}
      : {
          'Content-Type': stream.contentType,
          'Stream-Next-Offset': String(stream.length).padStart(16, '0'),
          ...(stream.closed ? { 'Stream-Closed': 'true' } : {}),
        }
  return new Response(null, { status, headers: { ...about, ...more } })
}

function typeOf({ headers }: Request): string | null {
  const [type] = (headers.get('content-type') ?? '').toLowerCase().split(';')
  return type?.trim() || null
}

/** Bytes, or messages where it is JSON; the offset counts the one or the other. */
class WrittenStream implements Stream {
  readonly contentType: string
  readonly #path: string
  #bytes = new Uint8Array()
  readonly #messages: unknown[] = []
  #closed = false
  #changed = Promise.withResolvers<void>()

  constructor(path: string, contentType: string) {
    this.#path = path
    this.contentType = contentType
  }

  get closed(): boolean {
    return this.#closed
  }

  get length(): number {
    return this.#isJson ? this.#messages.length : this.#bytes.length
  }

  async tail() {
    return { at: this.length, closed: this.#closed }
  }

  async read(asked: number, most: 'page' | 'piece'): Promise<Page> {
    const from = Math.min(asked, this.length)
    const to = Math.min(this.length, from + (most === 'page' ? PAGE : PIECE))
    const upToDate = to === this.length
    return {
      of: this.#path,
      body: this.#body(from, to),
      isEmpty: to === from,
      next: to,
      upToDate,
      closed: upToDate && this.#closed,
      heardUpTo: this.length,
    }
  }

  async wait({ heardUpTo }: Page, signal: AbortSignal): Promise<void> {
    if (signal.aborted || this.#closed || heardUpTo < this.length) return
    const over = Promise.withResolvers<void>()
    signal.addEventListener('abort', () => over.resolve())
    await Promise.race([this.#changed.promise, over.promise])
  }

  /** Whether it could be taken. */
  append(body: Uint8Array, when: 'first' | 'later', closes = false): boolean {
    if (this.#isJson) {
      const messages = messagesIn(body)
      if (messages === null || (messages.length === 0 && when === 'later')) return false
      this.#messages.push(...messages)
    } else this.#bytes = Buffer.concat([this.#bytes, body])
    if (closes) this.#closed = true
    this.#tell()
    return true
  }

  close(): void {
    this.#closed = true
    this.#tell()
  }

  get #isJson(): boolean {
    return isJson(this.contentType)
  }

  #body(from: number, to: number): string | Uint8Array {
    if (this.#isJson) return JSON.stringify(this.#messages.slice(from, to))
    return this.#bytes.slice(from, to)
  }

  #tell(): void {
    this.#changed.resolve()
    this.#changed = Promise.withResolvers()
  }
}

const PAGE = 1024 * 1024
const PIECE = 64 * 1024

/** One array is that many messages, and anything else one. */
function messagesIn(body: Uint8Array): unknown[] | null {
  try {
    const value: unknown = JSON.parse(Buffer.from(body).toString('utf8'))
    return Array.isArray(value) ? value : [value]
  } catch {
    return null
  }
}
