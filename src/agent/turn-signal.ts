import { knownEvent, type StoredEvent } from '../core/process/event.ts'
import type { Kernel } from '../kernel/kernel.ts'

/**
 * Aborts the work of a turn as soon as the turn has ended or paused by a request: of a person, a limit, a parent. Everything else is
 * left to the next look at the record.
 */
export class TurnSignal {
  readonly #unsubscribe: () => void
  #controller = new AbortController()
  #turn: number | null = null
  #heardTimes = 0
  readonly #waiting = new Set<() => void>()

  constructor({ feed }: Kernel, pid: string) {
    this.#unsubscribe = feed.on(pid, (events) => {
      // Events may have been missed: the work looks at the record before its next write, which is refused if the turn is over.
      for (const event of events ?? []) this.#heard(event)
      this.#heardTimes += 1
      for (const wake of [...this.#waiting]) wake()
    })
  }

  /** The signal of this turn's work, from now on. */
  of(turn: number): AbortSignal {
    if (this.#turn !== turn || this.#controller.signal.aborted) {
      this.#turn = turn
      this.#controller = new AbortController()
    }
    return this.#controller.signal
  }

  /** A mark for `changed`: take it before the record is read. */
  get mark(): number {
    return this.#heardTimes
  }

  /** Resolves when the agent has an event since the mark, or the signal is aborted. */
  changed(mark: number, signal: AbortSignal): Promise<void> {
    if (this.#heardTimes !== mark || signal.aborted) return Promise.resolve()
    return new Promise((resolve) => {
      const wake = () => {
        this.#waiting.delete(wake)
        signal.removeEventListener('abort', wake)
        resolve()
      }
      this.#waiting.add(wake)
      signal.addEventListener('abort', wake)
    })
  }

  close(): void {
    this.#unsubscribe()
  }

  #heard(event: StoredEvent): void {
    const known = knownEvent(event)
    const isOver = known?.type === 'turn_ended' && known.payload.turn === this.#turn
    if (isOver || known?.type === 'paused' || known?.type === 'ended')
      this.#controller.abort(new TurnStopped())
  }
}

/** The reason of the signal: not an error of the work. */
class TurnStopped extends Error {
  override readonly name = 'TurnStopped'
  constructor() {
    super('The turn has ended or is paused.')
  }
}
