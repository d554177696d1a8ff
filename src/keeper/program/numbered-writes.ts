import type { WriteAnswer } from '../protocol/messages.ts'

/** How many writes are known by their number; the protocol states it. */
const MAX_WRITES = 64

/** The numbers of the last writes to a program, so that a repeated one types nothing again. */
export class NumberedWrites {
  /** Bytes by number, in order. */
  readonly #writes = new Map<number, number>()
  #lastSeq = Number.NEGATIVE_INFINITY

  /** The answer to a number that was seen before; null if the write is new, or has no number. */
  replayOf(seq: number | null): WriteAnswer | null {
    if (seq === null || seq > this.#lastSeq) return null
    return { type: 'replayed', bytes: this.#writes.get(seq) ?? 0 }
  }

  add(seq: number, bytes: number): void {
    this.#lastSeq = seq
    this.#writes.set(seq, bytes)
    for (const old of this.#writes.keys()) {
      if (this.#writes.size <= MAX_WRITES) return
      this.#writes.delete(old)
    }
  }
}
