import { connect as connectTo } from 'node:net'
import { WebSocket } from 'ws'
import { RefusedError } from '../core/errors.ts'
import { refusal } from '../core/refusal.ts'
import type { Attachment, OutputPiece } from '../verbs/attachment.ts'
import type { CallOptions, OutputOf } from '../verbs/reeve.ts'
import { SCROLLBACK_BYTES } from '../verbs/shapes/scrollback.ts'
import { brokenWith, wasNeverConnected } from './broken.ts'
import { call, type Line, textOf } from './call.ts'
import { errorOf } from './problem.ts'
import { Queue } from './queue.ts'
import { retrying } from './retry.ts'
import { closedError } from './transport.ts'

type Gap = NonNullable<OutputPiece['gap']>
type Frame = { readonly bytes: Buffer } | { readonly gap: Gap } | { readonly ended: true }

/** A connected terminal: the offset it begins at, and the frames from there on. */
interface Terminal {
  readonly offset: number
  readonly frames: Queue<Frame>
}

const FIRST_TRIES_MS = 10_000
/** Further frames wait for a slow reader in the daemon. */
const MAX_QUEUED_FRAMES = 256
const MAX_UNANSWERED_WRITES = 1_024

/** A live terminal over a WebSocket. After a broken connection it continues at the byte where it broke. */
export async function attach(
  line: Line,
  { pid, scrollback = SCROLLBACK_BYTES }: { readonly pid: string; readonly scrollback?: number },
  { signal }: CallOptions,
): Promise<Attachment> {
  const path = `/v1/processes/${encodeURIComponent(pid)}/terminal`
  const detached = new AbortController()
  const either = signal === undefined ? detached.signal : AbortSignal.any([signal, detached.signal])
  const reach = (query: string, forMs: number) =>
    retrying(() => open(line, `${path}?${query}`, either), {
      safe: true,
      forMs,
      signal: either,
      hasAnswered: () => line.transport.hasAnswered,
      revive: line.revive,
    })
  let terminal = await reach(`scrollback=${scrollback}`, FIRST_TRIES_MS)

  async function* pieces(): AsyncGenerator<OutputPiece, void, void> {
    let offset = terminal.offset
    let gap: Gap | null = null
    try {
      while (!either.aborted) {
        const frame = await terminal.frames.next()
        if (frame === null) {
          if (either.aborted || line.transport.isClosed) return
          terminal = await reach(`offset=${offset}`, Number.POSITIVE_INFINITY)
        } else if ('bytes' in frame) {
          yield { offset, bytes: frame.bytes, gap }
          offset += frame.bytes.length
          gap = null
        } else if ('gap' in frame) {
          gap = frame.gap
          offset = frame.gap.to
        } else {
          if (gap !== null) yield { offset, bytes: new Uint8Array(), gap }
          return
        }
      }
    } catch (error) {
      if (!either.aborted) throw error
    } finally {
      detached.abort()
    }
  }

  // Input is sent by calls, one at a time: each is answered, and a slow reader of the output delays none.
  let last: Promise<unknown> = Promise.resolve()
  let unanswered = 0
  const inTurn = async (name: 'write' | 'resize', input: Readonly<Record<string, unknown>>) => {
    if (unanswered >= MAX_UNANSWERED_WRITES) throw inputFull(pid)
    unanswered++
    const done = last.then(() => {
      if (either.aborted) throw closedError()
      return call(line, name, { pid, ...input }, { signal: either })
    })
    last = done.catch(() => undefined).then(() => unanswered--)
    return done
  }
  return {
    [Symbol.asyncIterator]: pieces,
    write: async (text) => {
      const { bytes } = (await inTurn('write', { text })) as OutputOf<'write'>
      return { bytes }
    },
    resize: async (size) => void (await inTurn('resize', size)),
    detach: () => detached.abort(),
  }
}

function inputFull(pid: string): RefusedError {
  return new RefusedError(
    refusal(
      'input_full',
      `${MAX_UNANSWERED_WRITES} writes to ${pid} wait for an answer.`,
      'Await some of them first.',
    ),
  )
}

/** Resolves when the daemon has sent the offset that the terminal begins at. */
async function open(line: Line, path: string, signal: AbortSignal): Promise<Terminal> {
  const { address } = line.transport
  line.transport.refuseForeignSocket()
  const origin = address.url === null ? 'ws://localhost' : address.url.origin.replace(/^http/, 'ws')
  const unixSocket = address.socket
  const socket = new WebSocket(`${origin}${path}`, {
    headers: line.transport.headersWith(line.headers),
    perMessageDeflate: false,
    ...(unixSocket === null ? {} : { createConnection: () => connectTo(unixSocket) }),
  })
  const frames = new Queue<Frame>(MAX_QUEUED_FRAMES, {
    full: () => socket.pause(),
    drained: () => socket.resume(),
  })
  const abort = () => socket.terminate()
  signal.addEventListener('abort', abort, { once: true })
  return new Promise<Terminal>((resolve, reject) => {
    let began = false
    socket.on('message', (data: Buffer, isBinary: boolean) => {
      if (isBinary) return frames.push({ bytes: data })
      const control = JSON.parse(data.toString()) as { offset?: number; gap?: Gap; ended?: boolean }
      if (control.offset !== undefined) {
        began = true
        resolve({ offset: control.offset, frames })
      }
      if (control.gap !== undefined) frames.push({ gap: control.gap })
      if (control.ended === true) frames.push({ ended: true })
    })
    socket.on('unexpected-response', (_request, body) => {
      const status = body.statusCode ?? 0
      textOf(line.transport, { status, headers: body.headers, body }).then(
        (text) => reject(errorOf(status, text)),
        reject,
      )
    })
    socket.on('error', (error) => {
      reject(signal.aborted ? signal.reason : brokenWith(error, address.shown, wasNeverConnected(error)))
    })
    socket.on('close', () => {
      signal.removeEventListener('abort', abort)
      frames.close()
      if (!began) reject(brokenWith(new Error('closed'), address.shown, false))
    })
  })
}
