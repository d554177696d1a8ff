import { isObject } from '../base/is-object.ts'
import { ReeveError } from '../core/errors.ts'
import { fromWire } from '../verbs/request.ts'

/** The JSON object in a request's body. An empty body is an empty object. */
export async function bodyOf(request: Request, maxBytes: number): Promise<Record<string, unknown>> {
  refuseTooLarge(request, maxBytes)
  const bytes = await readUpTo(request, maxBytes)
  if (bytes.length === 0) return {}
  refuseOtherThanJson(request)
  refuseTooManyValues(bytes)
  return objectIn(bytes)
}

export function refuseTooLarge(request: Request, maxBytes: number): void {
  if (Number(request.headers.get('content-length') ?? 0) > maxBytes) throw tooLarge(maxBytes)
}

/** The same request, after its body was read and checked, for handlers that do not limit it themselves. */
export async function withinLimit(request: Request, maxBytes: number): Promise<Request> {
  if (request.method === 'GET' || request.method === 'HEAD') return request
  const body = await readUpTo(request, maxBytes)
  refuseTooManyValues(body)
  const { url, method, headers, signal } = request
  return new Request(url, { method, headers, signal, ...(body.length === 0 ? {} : { body }) })
}

/** A chunked body has no length in its headers, so its bytes are counted as they arrive. */
export async function readUpTo(request: Request, maxBytes: number): Promise<Buffer<ArrayBuffer>> {
  if (request.body === null) return Buffer.alloc(0)
  const pieces: Uint8Array[] = []
  let length = 0
  for await (const piece of request.body as ReadableStream<Uint8Array>) {
    length += piece.length
    if (length > maxBytes) throw tooLarge(maxBytes)
    pieces.push(piece)
  }
  return Buffer.concat(pieces)
}

/** A body is parsed and checked in one go: some hundred thousand values would block other requests for a second. */
const MAX_VALUES = 100_000

function refuseTooManyValues(bytes: Buffer): void {
  if (bytes.length <= MAX_VALUES || valuesIn(bytes) <= MAX_VALUES) return
  throw new ReeveError(
    'body_too_large',
    `The body has more than ${MAX_VALUES} values, which is the most a request may have.`,
    'Send less at once; large things go into files.',
    { details: { mostValues: MAX_VALUES } },
  )
}

/** The approximate number of values in a JSON text: commas and opening brackets outside of strings. */
function valuesIn(bytes: Buffer): number {
  let values = 1
  let isInString = false
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]
    if (byte === QUOTE) isInString = !isInString
    else if (isInString) {
      if (byte === BACKSLASH) at++
    } else if (byte === COMMA || byte === OPEN_BRACKET || byte === OPEN_BRACE) values++
  }
  return values
}

const QUOTE = 0x22
const COMMA = 0x2c
const OPEN_BRACKET = 0x5b
const BACKSLASH = 0x5c
const OPEN_BRACE = 0x7b

function refuseOtherThanJson(request: Request): void {
  const given = request.headers.get('content-type')
  const [type = '', ...parameters] = (given ?? '').toLowerCase().split(';')
  const charset = parameters.map((one) => one.trim()).find((one) => one.startsWith('charset='))
  const isJson = type.trim() === 'application/json' && (charset === undefined || /utf-?8/.test(charset))
  if (isJson && request.headers.get('content-encoding') === null) return
  throw new ReeveError(
    'unsupported_media_type',
    given === null ? 'The body has no content type.' : `The body has the content type ${given}.`,
    'Send JSON in UTF-8, uncompressed, with Content-Type: application/json.',
  )
}

function objectIn(bytes: Buffer): Record<string, unknown> {
  let value: unknown
  try {
    value = fromWire(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch (error) {
    const reason = error instanceof RangeError ? 'it is nested too deeply' : (error as Error).message
    throw unreadable(`The body is not JSON that can be read: ${reason}.`, error)
  }
  if (isObject(value) && !(value instanceof Uint8Array)) return value
  throw unreadable('The body is JSON, but not an object.')
}

function unreadable(message: string, cause?: unknown): ReeveError {
  return new ReeveError('bad_request', message, 'Send one JSON object.', { cause })
}

function tooLarge(maxBytes: number): ReeveError {
  return new ReeveError(
    'body_too_large',
    `The body has more than ${maxBytes} bytes, which is the most a request may have.`,
    'Send less at once; large things go into files.',
    { details: { mostBytes: maxBytes } },
  )
}
