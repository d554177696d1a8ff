/** OTLP as JSON: 64-bit numbers are decimal text, ids are hexadecimal. */
export type Value = string | number | boolean

export interface Attribute {
  readonly key: string
  readonly value:
    | { readonly stringValue: string }
    | { readonly boolValue: boolean }
    | { readonly intValue: string }
    | { readonly doubleValue: number }
}

/** Attributes of what is known; null and undefined are left out. */
export function attributes(known: Readonly<Record<string, Value | null | undefined>>): Attribute[] {
  return Object.entries(known).flatMap(([key, value]) =>
    value == null ? [] : [{ key, value: encoded(value) }],
  )
}

/** Longer texts are cut: a collector refuses a whole batch for one that is too large. */
const MAX_TEXT_CHARS = 1_000

function encoded(value: Value): Attribute['value'] {
  if (typeof value === 'boolean') return { boolValue: value }
  if (typeof value === 'string')
    return {
      stringValue: value.length > MAX_TEXT_CHARS ? `${value.slice(0, MAX_TEXT_CHARS - 1)}…` : value,
    }
  return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value }
}

export function nanos(milliseconds: number): string {
  return `${Math.round(milliseconds)}000000`
}

/** Who tells: the same for spans and metrics. */
export interface Teller {
  readonly resource: Readonly<Record<string, Value>>
  readonly version: string
}

export function tracesDocument(teller: Teller, spans: readonly object[]): object {
  return {
    resourceSpans: [
      {
        resource: resourceOf(teller),
        scopeSpans: [{ scope: { name: 'reeve', version: teller.version }, spans }],
      },
    ],
  }
}

export function metricsDocument(teller: Teller, metrics: readonly object[]): object {
  return {
    resourceMetrics: [
      {
        resource: resourceOf(teller),
        scopeMetrics: [{ scope: { name: 'reeve', version: teller.version }, metrics }],
      },
    ],
  }
}

function resourceOf({ resource }: Teller): object {
  return { attributes: attributes(resource) }
}
