import { isObject } from '../../base/is-object.ts'
import type { Json, JsonObject } from '../../core/json/json.ts'

export type RpcId = string | number

/** A JSON-RPC message, as far as its shape tells. */
export type RpcMessage =
  | { readonly type: 'request'; readonly id: RpcId; readonly method: string; readonly params: JsonObject }
  | { readonly type: 'notification'; readonly method: string; readonly params: JsonObject }
  | { readonly type: 'result'; readonly id: RpcId; readonly result: JsonObject }
  | { readonly type: 'error'; readonly id: RpcId; readonly error: RpcErrorBody }

interface RpcErrorBody {
  readonly code: number
  readonly message: string
}

export const METHOD_NOT_FOUND = -32_601

/** The messages of a parsed line: one, several in a batch, or none if the value is not JSON-RPC. */
export function rpcMessages(value: unknown): readonly RpcMessage[] {
  return (Array.isArray(value) ? value : [value]).flatMap((one) => rpcMessage(one) ?? [])
}

function rpcMessage(value: unknown): RpcMessage | undefined {
  if (!isObject(value) || value['jsonrpc'] !== '2.0') return undefined
  const { id, method, params, result, error } = value
  const given = isJsonObject(params) ? params : {}
  if (typeof method === 'string')
    return isId(id)
      ? { type: 'request', id, method, params: given }
      : { type: 'notification', method, params: given }
  if (!isId(id)) return undefined
  if (isObject(error)) return { type: 'error', id, error: errorBody(error) }
  // Some programs answer a request that returns nothing with null.
  if (result === null) return { type: 'result', id, result: {} }
  return isJsonObject(result) ? { type: 'result', id, result } : undefined
}

function errorBody({ code, message }: Readonly<Record<string, unknown>>): RpcErrorBody {
  return {
    code: typeof code === 'number' ? code : 0,
    message: typeof message === 'string' ? message : 'no message',
  }
}

function isId(id: unknown): id is RpcId {
  return typeof id === 'string' || typeof id === 'number'
}

/** Every value here was parsed from JSON, so an object is a JSON object. */
export function isJsonObject(value: unknown): value is JsonObject {
  return isObject(value)
}

export function requestMessage(id: RpcId, method: string, params: JsonObject): JsonObject {
  return { jsonrpc: '2.0', id, method, params }
}

export function notificationMessage(method: string, params: JsonObject): JsonObject {
  return { jsonrpc: '2.0', method, params }
}

export function resultMessage(id: RpcId, result: JsonObject): JsonObject {
  return { jsonrpc: '2.0', id, result }
}

export function errorMessage(id: RpcId, code: number, message: string): JsonObject {
  const error: Json = { code, message }
  return { jsonrpc: '2.0', id, error }
}
