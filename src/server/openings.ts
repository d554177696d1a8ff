import type { Tokens } from './tokens.ts'

const CHECK_MS = 500

/** The open requests, streams and terminals of each token. They are cut soon after their token is revoked. */
export class Openings {
  readonly #tokens: Tokens
  readonly #cuts = new Map<string, Set<() => void>>()
  #look: NodeJS.Timeout | undefined

  constructor(tokens: Tokens) {
    this.#tokens = tokens
  }

  /** Returns the function that removes it, which may be called more than once. */
  add(tokenId: string, cut: () => void): () => void {
    const cuts = this.#cuts.get(tokenId) ?? new Set()
    this.#cuts.set(tokenId, cuts.add(cut))
    this.#look ??= setInterval(() => this.#cutRevoked(), CHECK_MS).unref()
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
