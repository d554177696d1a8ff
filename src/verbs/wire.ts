import * as z from 'zod'
import { type VerbName, verbs } from './reeve.ts'

/** A verb's input as an HTTP request below `/v1`: what the route names goes into the path, the rest is query or body. */
export interface VerbRequest {
  readonly method: string
  readonly path: string
  readonly query: URLSearchParams
  readonly body: string | undefined
}

export function requestOf(name: VerbName, input: Readonly<Record<string, unknown>>): VerbRequest {
  const { method, path } = routeOf(name)
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

/** The other way round, before it is parsed: a member of the query that is no text is JSON. */
export function inputOf(
  name: VerbName,
  path: Readonly<Record<string, string>>,
  query: URLSearchParams,
  body: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const texts = textsOf(name)
  const given = [...query].map(([member, text]) => [member, texts.has(member) ? text : fromWireOr(text)])
  return { ...Object.fromEntries(given), ...body, ...path }
}

export function routeOf(name: VerbName): { readonly method: string; readonly path: string } {
  const [method = '', path = ''] = verbs[name].route.split(' ')
  return { method, path }
}

export function hasBody(method: string): boolean {
  return method === 'POST' || method === 'PUT'
}

/** JSON, with bytes as `{ "$bytes": "<base64>" }`. */
export function toWire(value: unknown): string {
  return JSON.stringify(value, function (this: Record<string, unknown>, key: string, plain: unknown) {
    const given = this[key]
    return given instanceof Uint8Array ? { $bytes: Buffer.from(given).toString('base64') } : plain
  })
}

/** Throws where it is no JSON. */
export function fromWire(text: string): unknown {
  return JSON.parse(text, (_, value: unknown) => {
    if (typeof value !== 'object' || value === null || !('$bytes' in value)) return value
    const { $bytes: bytes, ...more } = value
    const isBytes = typeof bytes === 'string' && Object.keys(more).length === 0
    return isBytes ? new Uint8Array(Buffer.from(bytes, 'base64')) : value
  })
}

/** What is no JSON is left as it is: the verb's schema then says what is wrong with it. */
function fromWireOr(text: string): unknown {
  try {
    return fromWire(text)
  } catch {
    return text
  }
}

const texts = new Map<VerbName, ReadonlySet<string>>()

/** The members of a verb's input that are text. */
function textsOf(name: VerbName): ReadonlySet<string> {
  const known = texts.get(name)
  if (known !== undefined) return known
  const { properties = {} } = z.toJSONSchema(verbs[name].input, { io: 'input', unrepresentable: 'any' })
  const found = new Set(
    Object.keys(properties).filter((member) => {
      const property = properties[member]
      return typeof property === 'object' && property.type === 'string'
    }),
  )
  texts.set(name, found)
  return found
}
