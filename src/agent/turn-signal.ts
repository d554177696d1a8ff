import { phaseOf } from '../core/agent/state.ts'
import { knownEvent, type StoredEvent } from '../core/process/event.ts'
import { hasEnded } from '../core/process/record.ts'
import type { Edges } from '../kernel/edges.ts'
import type { Feed } from '../kernel/feed.ts'

/** How soon a failed look at the record is repeated. */
const RETRY_MS = 500

interface TurnSignalParts {
  readonly feed: Pick<Feed, 'on'>
  readonly edges: Pick<Edges, 'clock' | 'onTrouble'> & { readonly store: Pick<Edges['store'], 'ask'> }
}

/**
 * Aborts the work of a turn as soon as the turn has ended or paused by a request: of a person, a limit, a parent. Everything else is
 * left to the next look at the record.
 */
export class TurnSignal {
  readonly #edges: TurnSignalParts['edges']
  readonly #pid: string
  readonly #unsubscribe: () => void
  #isClosed = false
  #controller = new AbortController()
  #turn: number | null = null
  /** The last turn that is known to be over. */
  #over = 0
  /** When a pause was heard that no resume followed, as a mark. */
  #pausedAt = 0
  #heardTimes = 0
  readonly #waiting = new Set<() => void>()

  constructor({ feed, edges }: TurnSignalParts, pid: string) {
    this.#edges = edges
    this.#pid = pid
    this.#unsubscribe = feed.on(pid, (events) => {
      this.#heardTimes += 1
      if (events === null) this.#lookAtRecord()
      else for (const event of events) this.#heard(event)
      for (const wake of [...this.#waiting]) wake()
    })
  }

  /** The signal of this turn's work. `mark`: taken before the record was read that has the turn. */
  of(turn: number, mark: number): AbortSignal {
    if (this.#turn !== turn || this.#controller.signal.aborted) {
      this.#turn = turn
      this.#controller = new AbortController()
    }
    if (turn <= this.#over || this.#pausedAt > mark) this.#abort()
    return this.#controller.signal
  }

  /** A mark for `of` and `changed`: take it before the record is read. */
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
    this.#isClosed = true
    this.#unsubscribe()
  }

  #heard(event: StoredEvent): void {
    const known = knownEvent(event)
    switch (known?.type) {
      case 'turn_ended':
        this.#isOver(known.payload.turn)
        break
      case 'ended':
        this.#isOver(Number.POSITIVE_INFINITY)
        break
      case 'paused':
        this.#isPaused()
        break
      case 'resumed':
        this.#pausedAt = 0
    }
  }

  #isOver(turn: number): void {
    this.#over = Math.max(this.#over, turn)
    if (this.#turn !== null && this.#turn <= this.#over) this.#abort()
  }

  #isPaused(): void {
    this.#pausedAt = this.#heardTimes
    this.#abort()
  }

  #abort(): void {
    this.#controller.abort(new TurnStopped())
  }

  /** Events were missed, and the end of the turn may be one of them: a model call would go on for minutes. */
  #lookAtRecord(): void {
    this.#stateNow().catch((error: unknown) => {
      if (this.#isClosed) return
      this.#edges.onTrouble(error, `looking at ${this.#pid} after missed events`)
      this.#edges.clock.after(RETRY_MS, () => this.#isClosed || this.#lookAtRecord())
    })
  }

  async #stateNow(): Promise<void> {
    const row = await this.#edges.store.ask({ ask: 'process', pid: this.#pid })
    const agent = row?.record.agent ?? null
    if (row === null || agent === null || hasEnded(row.record)) {
      this.#isOver(Number.POSITIVE_INFINITY)
      return
    }
    this.#isOver(agent.turn === null ? agent.turns : agent.turn.number - 1)
    if (phaseOf(row.record) === 'paused') this.#isPaused()
  }
}

/** The reason of the signal: not an error of the work. */
class TurnStopped extends Error {
  override readonly name = 'TurnStopped'
  constructor() {
    super('The turn has ended or is paused.')
  }
}
