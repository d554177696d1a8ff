import type { ServerResponse } from 'node:http'

/** Begins a stream of events, and returns how to send one. */
export function beginEvents(response: ServerResponse): (event: unknown, name?: string) => void {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  return (event, name) => {
    const data = typeof event === 'string' ? event : JSON.stringify(event)
    response.write(`${name === undefined ? '' : `event: ${name}\n`}data: ${data}\n\n`)
  }
}
