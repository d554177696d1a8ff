import type { Problem } from './problem.ts'

const PROBLEM_TYPE = 'application/problem+json'

/** Sets the headers that every answer has, whichever part of the server wrote it. */
export function setCommonHeaders(headers: Headers): void {
  headers.set('X-Content-Type-Options', 'nosniff')
  headers.set('Cross-Origin-Resource-Policy', 'same-origin')
  if (!headers.has('cache-control')) headers.set('Cache-Control', 'no-store')
}

export function problemHeaders({ code, details }: Problem): Record<string, string> {
  const type = { 'Content-Type': PROBLEM_TYPE }
  // A refused connection must not keep a slot that another client may need.
  if (code === 'unauthorized')
    return { ...type, 'WWW-Authenticate': 'Bearer realm="reeve"', Connection: 'close' }
  if (code === 'too_many_connections') return { ...type, Connection: 'close' }
  const { retryAfterSeconds } = details
  return typeof retryAfterSeconds === 'number' ? { ...type, 'Retry-After': String(retryAfterSeconds) } : type
}
