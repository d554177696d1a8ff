import type { JsonObject } from '../../core/json/json.ts'
import type { Incoming } from '../kept-rpc/incoming.ts'
import type { RpcId } from '../kept-rpc/rpc-message.ts'
import type { Negotiated } from './protocol.ts'

export interface SendOptions {
  /** Makes the message safe to repeat: the channel sends a number once. Numbers rise. */
  readonly seq?: number
  /** Aborts a request on a channel that has one exchange for each request. */
  readonly signal?: AbortSignal
  /** Called if the response of this request alone cannot arrive any more. */
  readonly lost?: (why: string) => void
}

/** Carries messages to one server and back. */
export interface Channel {
  /** Resolves when the message has been passed on. Throws an `McpFailure`. */
  send(message: JsonObject, options?: SendOptions): Promise<void>
  /** Sends the reply to a question of the server, which the next kernel may read again. */
  reply(question: RpcId, message: JsonObject): Promise<void>
  /** The server and Reeve have agreed upon this. */
  negotiated(negotiated: Negotiated): void
  /** Passes on each message, from now until `close`. Called once. */
  listen(listener: (incoming: Incoming) => void): void
  /** Stops listening. A kept server goes on. */
  close(): void
}
