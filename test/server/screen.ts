import { once } from 'node:events'
import { connect } from 'node:net'
import { WebSocket } from 'ws'
import type { Daemon } from '../../src/daemon/up.ts'
import { until } from '../keeper/client.ts'

/** A terminal as a client has it: frames in order, text as JSON. */
export class Screen {
  readonly ws: WebSocket
  // biome-ignore lint/suspicious/noExplicitAny: a test reads the raw answer
  readonly told: any[] = []
  bytes = Buffer.alloc(0)
  closed: { code: number; reason: string } | undefined

  constructor(daemon: Daemon, path: string, headers: Record<string, string> = {}, viaSocket = true) {
    const origin = viaSocket ? 'ws://localhost' : (daemon.url ?? '').replace('http', 'ws')
    const { socket } = daemon.home
    this.ws = new WebSocket(`${origin}${path}`, {
      headers,
      ...(viaSocket ? { createConnection: () => connect(socket) } : {}),
    })
    this.ws.on('message', (data: Buffer, isBinary: boolean) => {
      if (isBinary) this.bytes = Buffer.concat([this.bytes, data])
      else this.told.push(JSON.parse(data.toString()))
    })
    this.ws.on('close', (code, reason) => {
      this.closed = { code, reason: reason.toString() }
    })
  }

  async opened(): Promise<this> {
    await once(this.ws, 'open')
    return this
  }

  shows(text: string): Promise<unknown> {
    return until(`the terminal shows ${text}`, () => this.bytes.toString().includes(text))
  }

  async refused(): Promise<{ status: number | undefined; code: string }> {
    this.ws.on('error', () => undefined)
    const [, response] = await once(this.ws, 'unexpected-response')
    const pieces: Buffer[] = []
    for await (const piece of response) pieces.push(piece)
    return { status: response.statusCode, code: JSON.parse(Buffer.concat(pieces).toString()).code }
  }
}
