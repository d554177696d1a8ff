import type { Place } from './client.ts'

const TOUCH_MS = 30_000

/** Keeps the sessions of clients in use for as long as those have a stream open, whether they ask for anything or not. */
export class Presence {
  /** A client may have several streams open: each counts. */
  readonly #there = new Set<{ readonly placed: () => Promise<Place> | undefined }>()
  readonly #touching = setInterval(() => this.#touchAll(), TOUCH_MS).unref()

  /** Until the answer is called. */
  during(placed: () => Promise<Place> | undefined): () => void {
    const stream = { placed }
    this.#there.add(stream)
    return () => this.#there.delete(stream)
  }

  close(): void {
    clearInterval(this.#touching)
    this.#there.clear()
  }

  #touchAll(): void {
    for (const { placed } of this.#there) void placed()?.then(({ session }) => session.touch())
  }
}
