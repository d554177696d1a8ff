import type { RpcMessage } from './rpc-message.ts'

/** A message or an event from the other side of a channel. */
export type Incoming =
  | { readonly type: 'message'; readonly message: RpcMessage }
  /** A line that is not JSON-RPC. */
  | { readonly type: 'garbage'; readonly text: string }
  | { readonly type: 'too_long'; readonly excerpt: string }
  /** Messages may be missing from here on. */
  | { readonly type: 'lost'; readonly why: string }
  /** Nothing more arrives. */
  | { readonly type: 'ended'; readonly why: string }

/** `end`: the offset in the output log behind it. A reader that begins there gets the next one first. */
export interface KeptIncoming {
  readonly incoming: Incoming
  readonly end: number
}
