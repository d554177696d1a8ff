import type { ClientSession } from './session.ts'

const TOUCH_MS = 30_000

type Located = () => Promise<{ readonly session: Pick<ClientSession, 'touch'> }> | undefined

/** Keeps a client's session alive while the client has a stream open, even if it sends no request. */
export class OpenStreams {
  /** A client may have several streams open; each counts. */
  readonly #streams = new Set<{ readonly located: Located }>()
  readonly #touching = setInterval(() => this.#touchAll(), TOUCH_MS).unref()

  /** Counts a stream until the returned function is called. */
  track(located: Located): () => void {
    const stream = { located }
    this.#streams.add(stream)
    return () => this.#streams.delete(stream)
  }

  close(): void {
    clearInterval(this.#touching)
    this.#streams.clear()
  }

  #touchAll(): void {
    for (const { located } of this.#streams) void located()?.then(({ session }) => session.touch())
  }
}
