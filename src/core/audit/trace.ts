const TRACE_PARENT = /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/

/** The W3C trace context of a request; null for a text that is none, as its specification asks for. */
export function traceIn(text: string | undefined): string | null {
  return text !== undefined && TRACE_PARENT.test(text) ? text : null
}
