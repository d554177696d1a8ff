import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type WebSocket, WebSocketServer } from 'ws'
import { ReeveError } from '../core/errors.ts'
import type { ReeveVerbs } from '../verbs/reeve.ts'
import { SCROLLBACK_BYTES } from '../verbs/shapes/scrollback.ts'
import { arrival } from './app.ts'
import { actingFor, type Caller, demand, viewOf } from './caller.ts'
import type { Door, Guard } from './guard.ts'
import { foreseen, problemOf } from './problem.ts'
import { endWith } from './raw-answer.ts'
import type { Log, Served } from './served.ts'

export interface TerminalParts {
  readonly reeve: Served
  readonly guard: Guard
  readonly log: Log
  readonly closing: AbortSignal
}

/** A request to become a WebSocket. */
export interface Upgrade {
  readonly request: IncomingMessage
  readonly socket: Duplex
  readonly head: Buffer
  readonly door: Door
  /** Counts the connection for its token, null for the user. Throws if that token has too many connections. */
  authenticated(tokenId: string | null): void
}

interface OpenTerminal {
  readonly caller: Caller
  readonly acting: ReeveVerbs
  readonly pid: string
  readonly offset: number
}

const MAX_FRAME_BYTES = 1024 * 1024
/** Input frames that wait for the program. Beyond that the connection is not read. */
const MAX_WAITING_FRAMES = 64
/** How long a client may stop reading the output. */
const STALL_MS = 30_000
/** Invalid frames in a row. */
const MAX_UNUSABLE_FRAMES = 100
const UNUSABLE: readonly string[] = ['bad_request', 'invalid_input', 'forbidden']
const RESTARTING = 1012
const NOT_ALLOWED = 1008
const BROKEN = 1011

/** Live terminals over WebSockets: raw bytes each way, everything else as JSON in text frames. */
export class Terminals {
  readonly #parts: TerminalParts
  readonly #server = new WebSocketServer({
    noServer: true,
    perMessageDeflate: false,
    maxPayload: MAX_FRAME_BYTES,
  })
  readonly #open = new Map<WebSocket, OpenTerminal>()

  constructor(parts: TerminalParts) {
    this.#parts = parts
  }

  /** A caller that is refused, or names an unknown process, gets an HTTP answer and no WebSocket. */
  async upgrade(upgrade: Upgrade): Promise<void> {
    const { request, socket, head } = upgrade
    const { guard, log } = this.#parts
    const ignore = () => socket.destroy()
    socket.on('error', ignore)
    const revoked = new AbortController()
    let giveBack = () => {}
    try {
      const caller = this.#callerOf(upgrade)
      // Counted before the first await: upgrades that arrive together are counted, too.
      giveBack = guard.admit(caller, () => revoked.abort())
      socket.once('close', giveBack)
      const terminal = await this.#terminalFor(upgrade, caller)
      guard.refuseRevoked(caller)
      socket.off('error', ignore)
      this.#server.handleUpgrade(
        request,
        socket,
        head,
        (ws) => void this.#serve(ws, terminal, revoked.signal),
      )
      // A socket that closed before the listener was added emits no second close event.
      if (socket.closed) giveBack()
    } catch (error) {
      giveBack()
      const said = foreseen(error)
      if (said.code === 'internal') log.error({ err: error }, 'a terminal could not be opened')
      endWith(socket, said)
    }
  }

  /** Whether a terminal of this process is open. */
  show(pid: string): boolean {
    return [...this.#open.values()].some((terminal) => terminal.pid === pid)
  }

  close(): void {
    for (const ws of this.#open.keys()) ws.close(RESTARTING, 'the daemon stops')
  }

  #callerOf({ request, door, authenticated }: Upgrade): Caller {
    const { guard } = this.#parts
    const came = arrival(request, door)
    guard.refuseForeign(came)
    const caller = guard.callerOf(came)
    authenticated(caller.tokenId)
    return caller
  }

  async #terminalFor({ request }: Upgrade, caller: Caller): Promise<OpenTerminal> {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'ws://localhost')
    const [, named] = /^\/v1\/processes\/([^/]+)\/terminal$/.exec(pathname) ?? []
    if (named === undefined || request.headers.upgrade?.toLowerCase() !== 'websocket')
      throw nothingHere(pathname)
    demand(caller, 'read')
    const acting = actingFor(this.#parts.reeve, caller)
    const { pid } = await acting.show({ pid: decoded(named) })
    const { end } = await acting.output({ pid, limit: 1 })
    const offset = numberIn(searchParams, 'offset')
    const scrollback = numberIn(searchParams, 'scrollback') ?? SCROLLBACK_BYTES
    return { caller, acting, pid, offset: offset ?? Math.max(0, end - scrollback) }
  }

  async #serve(ws: WebSocket, terminal: OpenTerminal, revoked: AbortSignal): Promise<void> {
    const { closing, log, guard } = this.#parts
    const gone = new AbortController()
    this.#open.set(ws, terminal)
    revoked.addEventListener('abort', () => ws.close(NOT_ALLOWED, 'unauthorized'), { signal: gone.signal })
    ws.on('close', () => {
      this.#open.delete(ws)
      gone.abort()
    })
    ws.on('error', () => ws.terminate())
    takeInput(ws, terminal, () => guard.refuseRevoked(terminal.caller))
    try {
      await show(ws, terminal, AbortSignal.any([gone.signal, closing]))
      ws.close(RESTARTING, 'the daemon stops')
    } catch (error) {
      if (gone.signal.aborted) return
      const said = foreseen(error)
      if (said.code === 'internal') log.error({ err: error, pid: terminal.pid }, 'a terminal broke')
      ws.close(said.code === 'denied' ? NOT_ALLOWED : BROKEN, said.code)
    }
  }
}

/** Sends the output from the offset on, until the process ends or the connection closes. */
async function show(ws: WebSocket, terminal: OpenTerminal, signal: AbortSignal): Promise<void> {
  const { acting, pid, offset, caller } = terminal
  // A caller that may type is a person at a terminal, who sees secrets in old and new output.
  const view = mayType(caller) ? viewOf(caller, { reveal: false, terminal: true }) : {}
  await send(ws, JSON.stringify({ offset }))
  for await (const { bytes, gap } of acting.followOutput({ pid, offset, ...view }, { signal })) {
    if (gap !== null) await send(ws, JSON.stringify({ gap }))
    if (bytes.length > 0) await send(ws, bytes)
  }
  // Output also ends when the kernel closes, so the record decides.
  if (signal.aborted || (await acting.show({ pid })).outcome === null) return
  await send(ws, JSON.stringify({ ended: true }))
  ws.close(1000)
}

function mayType({ role }: Caller): boolean {
  return role !== 'read'
}

/** Resolves when the connection has taken the data: output that a slow client has not read stays in the log. */
async function send(ws: WebSocket, data: string | Uint8Array): Promise<void> {
  const timer = setTimeout(() => ws.terminate(), STALL_MS)
  try {
    await new Promise<void>((resolve, reject) => {
      ws.send(data, (error) => (error ? reject(error) : resolve()))
    })
  } finally {
    clearTimeout(timer)
  }
}

/**
 * Writes input to the program in order. A refusal is sent as a text frame, `{ "refused": <problem> }`, and the terminal stays
 * open. Many invalid frames in a row close it.
 */
function takeInput(ws: WebSocket, { caller, acting, pid }: OpenTerminal, refuseRevoked: () => void): void {
  let last: Promise<void> = Promise.resolve()
  let waiting = 0
  let unusable = 0
  const refuseMore = () => {
    ws.close(NOT_ALLOWED, 'too_many_requests')
    // Its close frame comes after everything that it has sent already.
    ws.resume()
  }
  const take = async (data: Buffer, isBinary: boolean) => {
    if (ws.readyState !== ws.OPEN) return
    try {
      refuseRevoked()
      demand(caller, 'operate')
      if (isBinary) await acting.write({ pid, text: new Uint8Array(data) })
      else await acting.resize({ ...sizeIn(data.toString()), pid })
      unusable = 0
    } catch (error) {
      const said = foreseen(error)
      if (UNUSABLE.includes(said.code)) unusable++
      if (ws.readyState === ws.OPEN) ws.send(JSON.stringify({ refused: problemOf(said) }))
      if (unusable >= MAX_UNUSABLE_FRAMES) refuseMore()
      // One read brings thousands of frames, and refusals are synchronous: yield to other requests in between.
      await nextTurn()
    }
    if (--waiting === 0 && ws.isPaused) ws.resume()
  }
  ws.on('message', (data: Buffer, isBinary: boolean) => {
    if (ws.readyState !== ws.OPEN) return
    waiting++
    if (waiting >= MAX_WAITING_FRAMES) ws.pause()
    last = last.then(() => take(data, isBinary))
  })
}

/** The verb checks the numbers. */
function sizeIn(text: string): { cols: number; rows: number } {
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch {
    // Refused below, like JSON of another shape.
  }
  const { resize } = (parsed ?? {}) as { resize?: { cols: number; rows: number } }
  if (typeof resize === 'object' && resize !== null) return resize
  throw new ReeveError(
    'bad_request',
    'A text frame is not {"resize":{"cols","rows"}}.',
    'Send input in binary frames.',
  )
}

function numberIn(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name)
  if (text === null) return undefined
  if (/^[0-9]{1,16}$/.test(text) && Number.isSafeInteger(Number(text))) return Number(text)
  throw new ReeveError(
    'bad_request',
    `${name} is ${JSON.stringify(text)}.`,
    `Give ${name} as a number of bytes.`,
  )
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

function nothingHere(path: string): ReeveError {
  return new ReeveError(
    'not_found',
    `There is no WebSocket at ${path}.`,
    'Terminals are at /v1/processes/{pid}/terminal.',
  )
}
