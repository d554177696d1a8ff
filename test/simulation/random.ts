/** Numbers that depend on the seed alone (mulberry32): the same seed gives the same world. */
export class Random {
  #state: number

  constructor(seed: number) {
    this.#state = Math.imul(seed + 1, 0x9e3779b1) >>> 0
  }

  /** From 0 up to, but not including, 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }

  /** A whole number from `least` to `most`, both included. */
  between(least: number, most: number): number {
    return least + Math.floor(this.next() * (most - least + 1))
  }

  chance(probability: number): boolean {
    return this.next() < probability
  }

  pick<Item>(items: readonly Item[]): Item {
    const item = items[Math.floor(this.next() * items.length)]
    if (item === undefined) throw new Error('A pick from nothing')
    return item
  }

  maybe<Item>(probability: number, make: () => Item): Item | undefined {
    return this.chance(probability) ? make() : undefined
  }

  weighted<Item>(items: readonly Item[], weightOf: (item: Item) => number): Item {
    let weight = this.next() * items.reduce((sum, item) => sum + weightOf(item), 0)
    for (const item of items) {
      weight -= weightOf(item)
      if (weight < 0) return item
    }
    return this.pick(items)
  }

  bytes(count: number): Uint8Array {
    return Uint8Array.from({ length: count }, () => this.between(0, 255))
  }

  /** A separate stream, so that one part's draws do not shift another's. */
  fork(): Random {
    return new Random(Math.floor(this.next() * 4_294_967_296))
  }
}
