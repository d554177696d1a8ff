/** Items that wait for their reader. Calls `full` when `max` items wait, and `drained` when half of them are read. */
export class Queue<Item> {
  readonly #items: Item[] = []
  readonly #max: number
  readonly #flow: { readonly full: () => void; readonly drained: () => void }
  #waiting: ((item: Item | null) => void) | null = null
  #isClosed = false
  #isFull = false

  constructor(max: number, flow: { readonly full: () => void; readonly drained: () => void }) {
    this.#max = max
    this.#flow = flow
  }

  push(item: Item): void {
    const waiting = this.#waiting
    this.#waiting = null
    if (waiting === null) this.#items.push(item)
    else waiting(item)
    if (this.#isFull || this.#items.length < this.#max) return
    this.#isFull = true
    this.#flow.full()
  }

  /** The next item; null when the queue is closed and empty. */
  next(): Promise<Item | null> {
    const item = this.#items.shift()
    if (item === undefined) {
      if (this.#isClosed) return Promise.resolve(null)
      return new Promise((resolve) => {
        this.#waiting = resolve
      })
    }
    if (this.#isFull && this.#items.length < this.#max / 2) {
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
