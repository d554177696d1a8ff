import * as http from 'node:http'

export interface Asked {
  readonly method?: 'GET' | 'POST'
  readonly path: string
  /** Sent as JSON. */
  readonly body?: unknown
}

export interface Answer {
  readonly status: number
  readonly headers: http.IncomingHttpHeaders
  readonly bytes: number
}

/** Fewer than a daemon accepts. Further requests queue here, and their wait counts. */
const MAX_CONNECTIONS = 128

/** A plain HTTP client with keep-alive, the same for Reeve and for every floor. */
export class Asker {
  readonly #agent = new http.Agent({ keepAlive: true, maxSockets: MAX_CONNECTIONS })
  readonly #to: http.RequestOptions
  readonly #token: string | undefined

  constructor(url: string, token?: string) {
    const { hostname, port } = new URL(url)
    this.#to = { host: hostname, port }
    this.#token = token
  }

  /** Resolves when the answer has been read to its end. Throws unless it is a success. */
  async ask({ method = 'GET', path, body }: Asked, onPiece?: (piece: Buffer) => void): Promise<Answer> {
    const text = body === undefined ? undefined : JSON.stringify(body)
    const { promise, resolve, reject } = Promise.withResolvers<Answer>()
    const headers = {
      ...(this.#token === undefined ? {} : { authorization: `Bearer ${this.#token}` }),
      ...(text === undefined ? {} : { 'content-type': 'application/json' }),
    }
    const request = http.request({ ...this.#to, agent: this.#agent, method, path, headers }, (response) => {
      const { statusCode: status = 0, headers } = response
      let bytes = 0
      response.on('data', (piece: Buffer) => {
        bytes += piece.length
        onPiece?.(piece)
      })
      response.on('end', () => {
        if (status === 200) resolve({ status, headers, bytes })
        else reject(new Error(`${method} ${path} was answered with ${status}.`))
      })
      response.on('error', reject)
    })
    request.on('error', (error: NodeJS.ErrnoException) => {
      // The server closed an idle connection just when it was reused.
      const isStale = request.reusedSocket && error.code === 'ECONNRESET'
      if (isStale) resolve(this.ask({ method, path, body }, onPiece))
      else reject(error)
    })
    request.end(text)
    return promise
  }

  async json(asked: Asked): Promise<unknown> {
    const pieces: Buffer[] = []
    await this.ask(asked, (piece) => pieces.push(piece))
    return JSON.parse(Buffer.concat(pieces).toString())
  }

  close(): void {
    this.#agent.destroy()
  }
}
