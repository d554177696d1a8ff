import type { Commit } from './contract.ts'

/** The listeners of commits. One that throws has a defect, which must not keep the others from being called. */
export class Listeners {
  readonly #listeners = new Set<(commit: Commit) => void>()

  add(listener: (commit: Commit) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  notify(commit: Commit): void {
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
