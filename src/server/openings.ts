import type { Tokens } from './tokens.ts'

const LOOK_MS = 500

/**
 * What is open for whoever showed a token: answers that are not over yet, streams, terminals. A token that is revoked lets
 * nobody in any more, and what it let in is cut within a moment.
 */
export class Openings {
  readonly #tokens: Tokens
  readonly #cuts = new Map<string, Set<() => void>>()
  #look: NodeJS.Timeout | undefined

  constructor(tokens: Tokens) {
    this.#tokens = tokens
  }

  /** Answers with what to call when it is over by itself. */
  add(tokenId: string, cut: () => void): () => void {
    const cuts = this.#cuts.get(tokenId) ?? new Set()
    this.#cuts.set(tokenId, cuts.add(cut))
    this.#look ??= setInterval(() => this.#cutRevoked(), LOOK_MS).unref()
    return () => {
      cuts.delete(cut)
      if (cuts.size === 0 && this.#cuts.get(tokenId) === cuts) this.#cuts.delete(tokenId)
      if (this.#cuts.size > 0) return
      clearInterval(this.#look)
      this.#look = undefined
    }
  }

  count(tokenId: string): number {
    return this.#cuts.get(tokenId)?.size ?? 0
  }

  #cutRevoked(): void {
    const good = new Set(this.#tokens.all().map(({ id }) => id))
    for (const [tokenId, cuts] of [...this.#cuts]) if (!good.has(tokenId)) for (const cut of [...cuts]) cut()
  }
}
