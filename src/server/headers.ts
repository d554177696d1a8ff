/** Sets the headers that every answer has, whichever part of the server wrote it. */
export function setCommonHeaders(headers: Headers): void {
  headers.set('X-Content-Type-Options', 'nosniff')
  headers.set('Cross-Origin-Resource-Policy', 'same-origin')
  if (!headers.has('cache-control')) headers.set('Cache-Control', 'no-store')
}
