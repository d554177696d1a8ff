import type { Usage } from '../keeper/protocol/program-state.ts'

type Usages = Readonly<Record<string, Usage | null>>

/**
 * Asks a keeper for the usage of programs. Each request costs one scan of all OS processes, for any number of programs: callers
 * that come while a request is pending share the next one.
 */
export class UsageAsks {
  readonly #ask: (pids: readonly string[]) => Promise<Usages>
  #isAsking = false
  #next: Question | null = null

  constructor(ask: (pids: readonly string[]) => Promise<Usages>) {
    this.#ask = ask
  }

  /** The usage as of now or later, never of an earlier scan. */
  async of(pid: string): Promise<Usage | null> {
    this.#next ??= this.#prepared()
    const { pids, answer, start } = this.#next
    pids.add(pid)
    if (!this.#isAsking) start()
    return (await answer)[pid] ?? null
  }

  #goOn(): void {
    this.#isAsking = false
    this.#next?.start()
  }

  #prepared(): Question {
    const pids = new Set<string>()
    const started = Promise.withResolvers<void>()
    const answer = started.promise.then(async () => {
      this.#next = null
      try {
        return await this.#ask([...pids])
      } finally {
        this.#goOn()
      }
    })
    const start = () => {
      this.#isAsking = true
      started.resolve()
    }
    return { pids, answer, start }
  }
}

interface Question {
  readonly pids: Set<string>
  readonly answer: Promise<Usages>
  start(): void
}
