/** A map of at most `maxSize` entries. An entry that is set becomes the newest; one too many evicts the oldest. */
export class BoundedMap<Key, Value> extends Map<Key, Value> {
  readonly #maxSize: number
  /** Stands before the oldest entry. A new iterator would have to pass all entries that were removed before it. */
  #oldest: Iterator<Key> | undefined
  /** Entries that were removed since the iterator last moved: it keeps the memory of each cleaning of the map alive. */
  #removed = 0

  constructor(maxSize: number) {
    super()
    this.#maxSize = maxSize
  }

  override set(key: Key, value: Value): this {
    if (this.has(key)) this.delete(key)
    super.set(key, value)
    if (this.size > this.#maxSize) this.#evictOldest()
    return this
  }

  override delete(key: Key): boolean {
    const isRemoved = super.delete(key)
    if (isRemoved && ++this.#removed > this.#maxSize) this.#oldest = undefined
    return isRemoved
  }

  #evictOldest(): void {
    this.#oldest ??= this.keys()
    const { value, done } = this.#oldest.next()
    if (done !== true) super.delete(value)
    this.#removed = 0
  }
}
