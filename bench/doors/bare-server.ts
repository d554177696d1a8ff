/**
 * The floor of the API: Node's HTTP server and nothing else. `?bytes=<n>` is answered with JSON of that length, and
 * `?file=<path>` with that file, as its stream comes.
 */
import { createReadStream } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

const server = createServer((request, response) => {
  const query = new URL(request.url ?? '', 'http://localhost').searchParams
  const file = query.get('file')
  if (file !== null) {
    response.setHeader('Content-Type', 'application/octet-stream')
    createReadStream(file).pipe(response)
    return
  }
  request.resume().once('end', () => {
    response.setHeader('Content-Type', 'application/json')
    response.end(JSON.stringify('x'.repeat(Math.max(0, Number(query.get('bytes')) - 2))))
  })
})
server.listen(0, '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
})
