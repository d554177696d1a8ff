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

/** Members that are null or undefined are left out. */
export function attributes(known: Readonly<Record<string, Value | null | undefined>>): Attribute[] {
  return Object.entries(known).flatMap(([key, value]) =>
    value == null ? [] : [{ key, value: encoded(value) }],
  )
}

/** Longer texts are cut: a collector rejects a whole batch if one text is too large. */
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

/** The source of the telemetry: the same for spans and metrics. */
export interface Source {
  readonly resource: Readonly<Record<string, Value>>
  readonly version: string
}

export function tracesDocument(source: Source, spans: readonly object[]): object {
  return {
    resourceSpans: [
      {
        resource: resourceOf(source),
        scopeSpans: [{ scope: { name: 'reeve', version: source.version }, spans }],
      },
    ],
  }
}

export function metricsDocument(source: Source, metrics: readonly object[]): object {
  return {
    resourceMetrics: [
      {
        resource: resourceOf(source),
        scopeMetrics: [{ scope: { name: 'reeve', version: source.version }, metrics }],
      },
    ],
  }
}

function resourceOf({ resource }: Source): object {
  return { attributes: attributes(resource) }
}
