/** What arrives, until it is asked for. When more than `most` wait, whoever sends is told, and told again when few do. */
export class Queue<Item> {
  readonly #items: Item[] = []
  readonly #most: number
  readonly #flow: { readonly full: () => void; readonly drained: () => void }
  #waiting: ((item: Item | null) => void) | null = null
  #isClosed = false
  #isFull = false

  constructor(most: number, flow: { readonly full: () => void; readonly drained: () => void }) {
    this.#most = most
    this.#flow = flow
  }

  push(item: Item): void {
    const waiting = this.#waiting
    this.#waiting = null
    if (waiting === null) this.#items.push(item)
    else waiting(item)
    if (this.#isFull || this.#items.length < this.#most) return
    this.#isFull = true
    this.#flow.full()
  }

  /** The next one; null when there will be none. */
  next(): Promise<Item | null> {
    const item = this.#items.shift()
    if (item === undefined) {
      if (this.#isClosed) return Promise.resolve(null)
      return new Promise((resolve) => {
        this.#waiting = resolve
      })
    }
    if (this.#isFull && this.#items.length < this.#most / 2) {
      this.#isFull = false
      this.#flow.drained()
    }
    return Promise.resolve(item)
  }

  close(): void {
    this.#isClosed = true
    this.#waiting?.(null)
    this.#waiting = null
  }
}
