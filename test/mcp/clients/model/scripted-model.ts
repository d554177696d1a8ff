import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'
import type { ModelRequest, Turn, Wire } from './wire.ts'

/** A request that a client holds open until the model answers it. */
interface OpenTurn {
  readonly request: ModelRequest
  answer(turn: Turn): void
}

/** Longer than any call of the tests takes, also for a client that waits for the answer of a dead daemon. */
const SILENT_MS = 120_000
const SILENT = `The client has not asked its model for ${SILENT_MS / 1000} s.`

/**
 * A model API on loopback whose model is the test: each request of the client stays open until the test says what the model
 * does next, and the result of a call is what the client sends to the model afterwards.
 */
export class ScriptedModel {
  readonly url: string
  #open: readonly OpenTurn[] = []
  #arrived: () => void = () => {}
  #stopped: Error | null = null
  #calls = 0

  private constructor(url: string) {
    this.url = url
  }

  static async listen(wire: Wire): Promise<ScriptedModel> {
    const server = createServer()
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(async () => {
      server.closeAllConnections()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    })
    const { port } = server.address() as AddressInfo
    const model = new ScriptedModel(`http://127.0.0.1:${port}`)
    server.on('request', (request, response) => {
      model.#serve(wire, request, response).catch((error: Error) => {
        response.writeHead(500).end()
        model.stop(error)
      })
    })
    return model
  }

  /** The tools that the client offers at the moment. */
  async tools(): Promise<ModelRequest['tools']> {
    return (await this.#turn()).request.tools
  }

  /** Calls a tool of Reeve or of the client itself, and resolves with the result as the model gets it. */
  async call(tool: string, input: object, of: 'reeve' | 'client' = 'reeve'): Promise<string> {
    const id = `call_${++this.#calls}`
    await this.#answer({ type: 'call', id, tool, input, of })
    const { results } = (await this.#turn()).request
    const result = results.get(id)
    if (result === undefined) throw new Error(`The client sent no result of ${tool}.`)
    return result
  }

  /** Ends the model's turn, and so the client's work. */
  async finish(text: string): Promise<void> {
    await this.#answer({ type: 'text', text })
  }

  /** Rejects pending waits for the client, which is gone. */
  stop(reason: Error): void {
    this.#stopped = reason
    this.#arrived()
  }

  async #answer(turn: Turn): Promise<void> {
    const open = await this.#turn()
    this.#close(open)
    open.answer(turn)
  }

  #close(turn: OpenTurn): void {
    this.#open = this.#open.filter((one) => one !== turn)
  }

  async #turn(): Promise<OpenTurn> {
    const deadline = setTimeout(() => this.stop(new Error(SILENT)), SILENT_MS)
    try {
      for (;;) {
        const [first] = this.#open
        if (first !== undefined) return first
        if (this.#stopped !== null) throw this.#stopped
        await new Promise<void>((resolve) => {
          this.#arrived = resolve
        })
      }
    } finally {
      clearTimeout(deadline)
    }
  }

  async #serve(wire: Wire, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await textOf(request)
    const read = body === '' ? null : wire.read(request.url ?? '', JSON.parse(body))
    if (read === null) {
      response.writeHead(404).end()
      return
    }
    const answer = (turn: Turn) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).end(wire.write(turn))
    }
    if (!read.hasTools) {
      answer({ type: 'text', text: 'A conversation' })
      return
    }
    const turn = { request: read, answer }
    // A client that gives up a request sends it again.
    response.once('close', () => this.#close(turn))
    this.#open = [...this.#open, turn]
    this.#arrived()
  }
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}
