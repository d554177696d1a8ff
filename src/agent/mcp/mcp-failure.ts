export type McpFailureCode =
  /** The server is not connected: it could not be started, ended, or does not answer. */
  | 'unavailable'
  | 'unauthorized'
  /** The session with the server is over, and the request was not taken. */
  | 'expired'
  | 'timed_out'
  /** The server refused the request with a JSON-RPC error. */
  | 'refused'
  /** An answer that is too long, or that does not follow the protocol. */
  | 'unusable'
  /** The tool is another one than the agent was offered. */
  | 'changed'
  /** Whether the request had an effect is unknown. */
  | 'interrupted'

/** Why a request to an MCP server has no result. */
export class McpFailure extends Error {
  override readonly name = 'McpFailure'
  readonly code: McpFailureCode
  /** Of a refusal: the code of the JSON-RPC error. */
  readonly rpcCode: number | null

  constructor(code: McpFailureCode, message: string, rpcCode: number | null = null) {
    super(message)
    this.code = code
    this.rpcCode = rpcCode
  }
}
