import type { Edges } from './edges.ts'

/** Work that no caller waits for: its errors are reported while the kernel is open. */
export class BackgroundTasks {
  readonly #edges: Edges
  readonly #isOpen: () => boolean
  readonly #cancels = new Map<string, () => void>()

  constructor(edges: Edges, isOpen: () => boolean) {
    this.#edges = edges
    this.#isOpen = isOpen
  }

  /** Runs `task` every `ms`, counted from the end of the last run, until the kernel closes. */
  every(name: string, ms: number, task: () => Promise<void>): void {
    const again = () => {
      this.#cancels.delete(name)
      this.run(name, async () => {
        try {
          await task()
        } finally {
          if (this.#isOpen()) this.every(name, ms, task)
        }
      })
    }
    this.#cancels.set(name, this.#edges.clock.after(ms, again))
  }

  run(doing: string, task: () => Promise<void>): void {
    task().catch((error: unknown) => {
      if (this.#isOpen()) this.#edges.onTrouble(error, doing)
    })
  }

  stop(): void {
    for (const cancel of this.#cancels.values()) cancel()
  }
}
