import { STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import type { ReeveError } from '../core/errors.ts'
import { setCommonHeaders } from './headers.ts'
import { problemHeaders, problemOf, problemText } from './problem.ts'

/** How long the other side may take to read the answer. */
const LINGER_MS = 1_000

/** Answers on a connection that carries no parsed request, and closes it. Ignores further bytes from the other side. */
export function endWith(socket: Duplex, error: ReeveError, status = problemOf(error).status): void {
  const problem = { ...problemOf(error), title: STATUS_CODES[status] ?? '', status }
  const body = problemText(problem)
  const headers = new Headers(problemHeaders(problem))
  setCommonHeaders(headers)
  headers.set('Connection', 'close')
  headers.set('Content-Length', String(Buffer.byteLength(body)))
  const lines = [...headers].map(([name, value]) => `${name}: ${value}\r\n`)
  socket.on('error', () => socket.destroy())
  socket.end(`HTTP/1.1 ${status} ${problem.title}\r\n${lines.join('')}\r\n${body}`)
  socket.resume()
  setTimeout(() => socket.destroy(), LINGER_MS).unref()
}
