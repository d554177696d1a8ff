import { STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import type { ReeveError } from '../core/errors.ts'
import { PROBLEM_TYPE, problemHeaders, problemOf, problemText } from './problem.ts'

const LINGER_MS = 1_000

/** An answer where there is no request to answer, only a connection. What the other side still sends is let go by. */
export function endWith(socket: Duplex, error: ReeveError, status = problemOf(error).status): void {
  const problem = { ...problemOf(error), title: STATUS_CODES[status] ?? '', status }
  const body = problemText(problem)
  const headers = {
    Connection: 'close',
    'Content-Type': PROBLEM_TYPE,
    'Content-Length': Buffer.byteLength(body),
    ...problemHeaders(problem),
  }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.on('error', () => socket.destroy())
  socket.end(`HTTP/1.1 ${status} ${problem.title}\r\n${lines.join('')}\r\n${body}`)
  socket.resume()
  setTimeout(() => socket.destroy(), LINGER_MS).unref()
}
