import { createServer, type Server } from 'node:http'
import type { Socket } from 'node:net'
import { parentPort, workerData } from 'node:worker_threads'

export interface WorkerDaemonData {
  readonly socket: string
  /** One number; 1 as soon as every connection has been closed after the second answer. */
  readonly closed: Int32Array
}

const STATUS = { daemon: { id: 'k_1', osPid: 1 }, keeper: null, live: 0, boot: {} }
const { socket: path, closed } = workerData as WorkerDaemonData
const open = new Set<Socket>()
let answers = 0

/** Answers every request, tells the parent of it, and closes the connections once: a client that is blocked cannot see it. */
const server: Server = createServer(async (request, response) => {
  let body = ''
  for await (const piece of request) body += String(piece)
  answers += 1
  parentPort?.postMessage({ path: request.url, body })
  response.writeHead(200, { 'content-type': 'application/json' })
  response.end(JSON.stringify(request.url === '/v1/status' ? STATUS : { type: 'registered', processes: [] }))
  if (answers === 2) response.once('finish', () => setImmediate(closeAll))
})
server.on('connection', (socket) => {
  open.add(socket)
  socket.once('close', () => {
    open.delete(socket)
    if (answers !== 2 || open.size > 0) return
    Atomics.store(closed, 0, 1)
    Atomics.notify(closed, 0)
  })
})
server.listen(path, () => parentPort?.postMessage('listening'))

function closeAll(): void {
  for (const socket of open) socket.destroy()
}
