import type { Meta, MetaStatements } from './statements/meta.ts'

/** The counters of the store. A transaction that changes them reads them at most once and writes them once. */
export class Counters {
  readonly #meta: MetaStatements
  /** As the last commit left them; undefined if another connection may have changed them. */
  #known: Meta | undefined
  /** As the open transaction found them; undefined if it changes none. */
  #before: Meta | undefined
  #now: Meta = { position: 0, prunedThrough: 0, live: 0 }

  constructor(meta: MetaStatements) {
    this.#meta = meta
  }

  begin(): void {
    this.#before = undefined
  }

  /** The counters of the open transaction, to be changed in place. */
  change(): Meta {
    if (this.#before === undefined) {
      this.#before = this.#known ?? this.#meta.read()
      this.#now = { ...this.#before }
    }
    return this.#now
  }

  /** The last statement of a transaction. */
  write(): void {
    if (this.#before !== undefined) this.#meta.write(this.#now)
  }

  /** The positions before and after the transaction; null if it has changed no counter. */
  commit(): { readonly after: number; readonly position: number } | null {
    if (this.#before === undefined) return null
    this.#known = this.#now
    return { after: this.#before.position, position: this.#now.position }
  }

  forget(): void {
    this.#known = undefined
  }
}
