import type { Route } from './verb.ts'

/** A verb's input as an HTTP request below `/v1`: members that the route names are in the path, the others in query or body. */
export interface VerbRequest {
  readonly method: string
  readonly path: string
  readonly query: URLSearchParams
  readonly body: string | undefined
}

/** Uses no schema, so that a client need not load them. */
export function requestTo(route: Route, input: Readonly<Record<string, unknown>>): VerbRequest {
  const { method, path } = partsOf(route)
  const rest = new Map(Object.entries(input).filter(([, value]) => value !== undefined))
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, member: string) => {
    const value = rest.get(member)
    rest.delete(member)
    return encodeURIComponent(String(value))
  })
  const query = new URLSearchParams()
  if (hasBody(method)) return { method, path: filled, query, body: toWire(Object.fromEntries(rest)) }
  for (const [member, value] of rest) query.set(member, typeof value === 'string' ? value : toWire(value))
  return { method, path: filled, query, body: undefined }
}

export function partsOf(route: Route): { readonly method: string; readonly path: string } {
  const [method = '', path = ''] = route.split(' ')
  return { method, path }
}

export function hasBody(method: string): boolean {
  return method === 'POST' || method === 'PUT'
}

/** JSON, with bytes as `{ "$bytes": "<base64>" }`. */
export function toWire(value: unknown, indent?: number): string {
  const replacer = function (this: Record<string, unknown>, key: string, plain: unknown) {
    const given = this[key]
    return given instanceof Uint8Array ? { $bytes: Buffer.from(given).toString('base64') } : plain
  }
  return JSON.stringify(value, replacer, indent)
}

/** Throws if the text is not JSON. */
export function fromWire(text: string): unknown {
  // A reviver visits every value, and few answers have bytes.
  if (!text.includes('"$bytes"')) return JSON.parse(text)
  return JSON.parse(text, (_, value: unknown) => {
    if (typeof value !== 'object' || value === null || !('$bytes' in value)) return value
    const { $bytes: bytes, ...more } = value
    const isBytes = typeof bytes === 'string' && Object.keys(more).length === 0
    return isBytes ? new Uint8Array(Buffer.from(bytes, 'base64')) : value
  })
}
