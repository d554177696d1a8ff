import type { JsonObject } from '../../core/json/json.ts'
import type { Incoming } from '../kept-rpc/incoming.ts'
import {
  errorMessage,
  METHOD_NOT_FOUND,
  notificationMessage,
  type RpcId,
  type RpcMessage,
  requestMessage,
  resultMessage,
} from '../kept-rpc/rpc-message.ts'
import type { Channel } from './channel.ts'
import { McpFailure } from './mcp-failure.ts'

export interface RequestOptions {
  readonly seq?: number
  readonly signal?: AbortSignal
  /** Without it the request waits as long as the server lives. */
  readonly timeoutMs?: number
}

/** Callbacks of a connection. */
export interface ConnectionEvents {
  notified(method: string): void
  /** Answers a request of the server, which `peer` names. Undefined: the method is unknown. */
  answer(id: RpcId, method: string, params: JsonObject, peer: string): Promise<JsonObject> | undefined
  /** A line of output that is not a message. */
  garbage(text: string): void
  ended(why: string): void
}

interface Pending {
  resolve(result: JsonObject): void
  reject(failure: McpFailure): void
}

/** Requests and responses over a channel. A response without a waiting request is ignored: it is late, or a duplicate. */
export class Connection {
  readonly #peer: string
  readonly #server: string
  readonly #channel: Channel
  readonly #events: ConnectionEvents
  readonly #pending = new Map<RpcId, Pending>()
  /** Questions of the server that are not answered yet. */
  #open = 0
  #ended: string | undefined

  /** `peer`: the pid of the server, or its address. */
  constructor(peer: string, server: string, channel: Channel, events: ConnectionEvents) {
    this.#peer = peer
    this.#server = server
    this.#channel = channel
    this.#events = events
    channel.listen((incoming) => this.#receive(incoming))
  }

  /** Why nothing more arrives; undefined while the server is there. */
  get ended(): string | undefined {
    return this.#ended
  }

  /** Sends a request and waits for its response. An id is used once. */
  async request(
    id: RpcId,
    method: string,
    params: JsonObject,
    options: RequestOptions = {},
  ): Promise<JsonObject> {
    return this.begin(id, method, params, options).answered
  }

  /** The same in two steps: `written` never rejects, and resolves when the request has left. */
  begin(
    id: RpcId,
    method: string,
    params: JsonObject,
    { seq, signal, timeoutMs }: RequestOptions,
  ): { readonly written: Promise<void>; readonly answered: Promise<JsonObject> } {
    const { promise, resolve, reject } = Promise.withResolvers<JsonObject>()
    const exchange = new AbortController()
    const abort = () => reject(signal?.reason)
    this.#pending.set(id, { resolve, reject })
    const stopTimer =
      timeoutMs === undefined ? () => {} : this.after(timeoutMs, () => reject(this.#late(method, timeoutMs)))
    signal?.addEventListener('abort', abort, { once: true })
    if (signal?.aborted === true) abort()
    if (this.#ended !== undefined) reject(this.#gone(this.#ended))
    const lost = (why: string) => reject(new McpFailure('interrupted', this.#lostAnswer(why)))
    const sending = { ...(seq === undefined ? {} : { seq }), signal: exchange.signal, lost }
    const isOver = signal?.aborted === true || this.#ended !== undefined
    const written = isOver
      ? Promise.resolve()
      : this.#channel.send(requestMessage(id, method, params), sending).catch(reject)
    const answered = promise.finally(() => {
      this.#pending.delete(id)
      stopTimer()
      signal?.removeEventListener('abort', abort)
      exchange.abort()
    })
    return { written, answered }
  }

  async notify(method: string, params: JsonObject, seq?: number): Promise<void> {
    await this.#channel.send(notificationMessage(method, params), seq === undefined ? {} : { seq })
  }

  /** Requests that are under way are not failed: a kept server goes on with them, and the next kernel gets their answers. */
  close(): void {
    this.#channel.close()
    this.#ended ??= 'the connection is closed'
  }

  /** Calls `expire` after that time, unless the returned function is called. The time stands while the server waits for a person. */
  after(timeoutMs: number, expire: () => void): () => void {
    const check = () => {
      if (this.#open > 0) timer = setTimeout(check, timeoutMs)
      else expire()
    }
    let timer = setTimeout(check, timeoutMs)
    return () => clearTimeout(timer)
  }

  #receive(incoming: Incoming): void {
    switch (incoming.type) {
      case 'message':
        this.#receiveMessage(incoming.message)
        break
      case 'garbage':
        this.#events.garbage(incoming.text)
        break
      case 'too_long':
        this.#failLong(incoming.excerpt)
        break
      case 'lost':
        this.#failAll(new McpFailure('interrupted', this.#lostAnswer(incoming.why)))
        break
      case 'ended':
        this.#end(incoming.why)
    }
  }

  #receiveMessage(message: RpcMessage): void {
    switch (message.type) {
      case 'result':
        this.#pending.get(message.id)?.resolve(message.result)
        break
      case 'error': {
        const { code, message: text } = message.error
        this.#pending.get(message.id)?.reject(new McpFailure('refused', `${text} (${code})`, code))
        break
      }
      case 'notification':
        this.#events.notified(message.method)
        break
      case 'request':
        void this.#respond(message.id, message.method, message.params)
    }
  }

  async #respond(id: RpcId, method: string, params: JsonObject): Promise<void> {
    this.#open += 1
    try {
      if (method === 'ping') return await this.#channel.send(resultMessage(id, {}))
      const answering = this.#events.answer(id, method, params, this.#peer)
      if (answering === undefined)
        await this.#channel.send(errorMessage(id, METHOD_NOT_FOUND, `${method} is not supported`))
      else await this.#channel.reply(id, resultMessage(id, await answering))
    } catch {
      // The server is gone, or the kernel closes. The next kernel answers a request that is still in the log.
    } finally {
      this.#open -= 1
    }
  }

  /** Ids of calls are long and unique, so one that occurs in the excerpt is that of the answer. */
  #failLong(excerpt: string): void {
    for (const [id, { reject }] of this.#pending)
      if (excerpt.includes(JSON.stringify(id)))
        reject(new McpFailure('unusable', `The answer of the MCP server ${this.#server} is too long.`))
  }

  #end(why: string): void {
    if (this.#ended !== undefined) return
    this.#ended = why
    this.#failAll(new McpFailure('interrupted', this.#lostAnswer(why)))
    this.#events.ended(why)
  }

  #failAll(failure: McpFailure): void {
    for (const { reject } of this.#pending.values()) reject(failure)
  }

  #late(method: string, timeoutMs: number): McpFailure {
    return new McpFailure(
      'timed_out',
      `The MCP server ${this.#server} has not answered ${method} within ${timeoutMs / 1_000} s.`,
    )
  }

  #lostAnswer(why: string): string {
    return `The answer of the MCP server ${this.#server} is lost: ${why}. Whether the call had an effect is unknown: check before you repeat it.`
  }

  #gone(why: string): McpFailure {
    return new McpFailure('unavailable', `The MCP server ${this.#server} is gone: ${why}.`)
  }
}
