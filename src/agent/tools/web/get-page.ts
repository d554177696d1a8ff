import * as http from 'node:http'
import * as https from 'node:https'
import type { LookupFunction } from 'node:net'
import { pipeline, Readable } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import { messageOf } from '../../../base/error-text.ts'
import { ToolError } from '../agent-tool.ts'
import { checkedAddresses, type NetParts, type ResolvedAddress, refuseInternal } from './checked-address.ts'

/** Of one answer, as it is sent. */
const MAX_SENT_BYTES = 5 * 1024 * 1024
/** After decompression. */
const MAX_BODY_BYTES = 10 * 1024 * 1024
const MAX_HEADER_BYTES = 64 * 1024

export type PageAnswer =
  | { readonly type: 'redirect'; readonly to: URL }
  | {
      readonly type: 'page'
      readonly status: number
      readonly contentType: string
      readonly body: Buffer
    }

/** One GET without redirects. It connects to an address that was checked, and checks the connected one again. */
export async function getPage(url: URL, parts: NetParts, signal: AbortSignal): Promise<PageAnswer> {
  const addresses = await checkedAddresses(url, parts)
  const answer = await answerTo(url, addresses, signal)
  try {
    const connected = answer.socket.remoteAddress
    if (connected !== undefined) await refuseInternal(url, connected, parts)
    const { statusCode: status = 0, headers } = answer
    const { location } = headers
    if (REDIRECTS.has(status) && location !== undefined)
      return { type: 'redirect', to: redirectTo(location, url) }
    const body = await bodyOf(answer, url, (headers['content-encoding'] ?? '').trim().toLowerCase())
    return { type: 'page', status, contentType: headers['content-type'] ?? '', body }
  } finally {
    answer.destroy()
  }
}

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])

function redirectTo(location: string, from: URL): URL {
  if (!URL.canParse(location, from.href))
    throw new ToolError('fetch_failed', `${from.href} redirects to no URL.`)
  return new URL(location, from)
}

function answerTo(
  url: URL,
  addresses: readonly ResolvedAddress[],
  signal: AbortSignal,
): Promise<http.IncomingMessage> {
  // Hands out the checked addresses, and no others.
  const lookup: LookupFunction = (_, options, done) => {
    if (options.all === true) return done(null, [...addresses])
    const [first] = addresses
    done(null, first?.address ?? '', first?.family ?? 4)
  }
  const { request } = url.protocol === 'https:' ? https : http
  return new Promise((resolve, reject) => {
    const sent = request(url, {
      agent: false,
      lookup,
      signal,
      maxHeaderSize: MAX_HEADER_BYTES,
      headers: {
        accept: 'text/html, text/*;q=0.9, application/json;q=0.9, image/*;q=0.5, */*;q=0.1',
        'accept-encoding': 'gzip, deflate, br',
        'user-agent': 'reeve',
      },
    })
    sent.once('response', resolve)
    sent.once('error', (error) =>
      reject(new ToolError('fetch_failed', `${url.href} cannot be fetched: ${error.message || error.name}`)),
    )
    sent.end()
  })
}

async function bodyOf(answer: http.IncomingMessage, url: URL, encoding: string): Promise<Buffer> {
  const chunks: Buffer[] = []
  let length = 0
  try {
    for await (const chunk of decompressed(counted(answer), encoding)) {
      length += chunk.length
      if (length > MAX_BODY_BYTES)
        throw new ToolError(
          'too_large',
          `The answer has more than ${MAX_BODY_BYTES} bytes after decompression.`,
        )
      chunks.push(chunk)
    }
  } catch (error) {
    if (error instanceof ToolError) throw error
    throw new ToolError('fetch_failed', `The answer of ${url.href} broke off: ${messageOf(error)}`)
  }
  return Buffer.concat(chunks)
}

async function* counted(answer: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void, void> {
  let sent = 0
  for await (const chunk of answer) {
    sent += chunk.length
    if (sent > MAX_SENT_BYTES)
      throw new ToolError('too_large', `The answer has more than ${MAX_SENT_BYTES} bytes.`)
    yield chunk
  }
}

const UNPACK = new Map([
  ['gzip', createGunzip],
  ['x-gzip', createGunzip],
  ['deflate', createInflate],
  ['br', createBrotliDecompress],
])

function decompressed(sent: AsyncIterable<Buffer>, encoding: string): AsyncIterable<Buffer> {
  if (encoding === '' || encoding === 'identity') return sent
  const unpack = UNPACK.get(encoding)
  if (unpack === undefined)
    throw new ToolError('fetch_failed', `The answer is encoded with ${encoding}, which was not asked for.`)
  // An error reaches the reader of the last stream.
  return pipeline(Readable.from(sent), unpack(), () => undefined)
}
