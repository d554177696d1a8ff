import type { Commit } from './contract.ts'

/** Who wants to hear of commits. A listener that throws is its own defect, and must not stop the others. */
export class Listeners {
  readonly #listeners = new Set<(commit: Commit) => void>()

  add(listener: (commit: Commit) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  tell(commit: Commit): void {
    for (const listener of this.#listeners) {
      try {
        listener(commit)
      } catch (error) {
        queueMicrotask(() => {
          throw error
        })
      }
    }
  }
}
