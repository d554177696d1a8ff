import * as z from 'zod'
import { type VerbName, verbs } from './reeve.ts'
import { fromWire, partsOf } from './request.ts'

export { fromWire, hasBody, toWire } from './request.ts'

/** The input of a verb in a request, before it is parsed. Members of the query are JSON, except those that are texts. */
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
  return partsOf(verbs[name].route)
}

/** Text that is not JSON stays text: the verb's schema then reports the error. */
function fromWireOr(text: string): unknown {
  try {
    return fromWire(text)
  } catch {
    return text
  }
}

const texts = new Map<VerbName, ReadonlySet<string>>()

/** The members of a verb's input that are texts. */
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
