import { messageOf } from '../../base/error-text.ts'
import { ReeveError } from '../../core/errors.ts'
import type { JsonObject } from '../../core/json/json.ts'
import type { ReeveVerbs } from '../../verbs/reeve.ts'
import type { Incoming } from '../kept-rpc/incoming.ts'
import { keptMessages, type LogReader } from '../kept-rpc/kept-messages.ts'
import type { RpcId } from '../kept-rpc/rpc-message.ts'
import { isTooLong, MAX_WRITE_BYTES, writeMessage } from '../kept-rpc/write-message.ts'
import type { Channel, SendOptions } from './channel.ts'
import type { KeptWrites } from './kept-writes.ts'
import { McpFailure } from './mcp-failure.ts'

/** A server that a keeper holds: messages are lines of its standard input and of its output log. */
export class KeptChannel implements Channel {
  readonly pid: string
  readonly writes: KeptWrites
  readonly #verbs: LogReader & Pick<ReeveVerbs, 'write'>
  readonly #offset: number
  readonly #closed = new AbortController()

  /** `offset`: where listening begins in the output log. */
  constructor(
    verbs: LogReader & Pick<ReeveVerbs, 'write'>,
    pid: string,
    { offset, writes }: { readonly offset: number; readonly writes: KeptWrites },
  ) {
    this.#verbs = verbs
    this.pid = pid
    this.writes = writes
    this.#offset = offset
  }

  async send(message: JsonObject, { seq }: SendOptions = {}): Promise<void> {
    if (isTooLong(message))
      throw new McpFailure('refused', `A message to an MCP server has at most ${MAX_WRITE_BYTES} bytes.`)
    try {
      await writeMessage(this.#verbs, this.pid, message, seq)
    } catch (error) {
      if (error instanceof ReeveError) throw new McpFailure('unavailable', error.message)
      throw error
    }
  }

  async reply(question: RpcId, message: JsonObject): Promise<void> {
    await this.writes.reply(question, (seq) => this.send(message, seq === undefined ? {} : { seq }))
  }

  negotiated(): void {
    // A pipe carries every revision alike.
  }

  listen(listener: (incoming: Incoming) => void): void {
    this.#read(listener).catch((error: unknown) => {
      // The server outlives a kernel that closes, and so do its calls.
      if (error instanceof ReeveError && error.code === 'closed') return
      listener({ type: 'ended', why: `its output cannot be read: ${messageOf(error)}` })
    })
  }

  async #read(listener: (incoming: Incoming) => void): Promise<void> {
    const { signal } = this.#closed
    for await (const { incoming } of keptMessages(this.#verbs, this.pid, this.#offset, signal)) {
      if (signal.aborted) return
      listener(incoming)
    }
  }

  close(): void {
    this.#closed.abort()
  }
}
