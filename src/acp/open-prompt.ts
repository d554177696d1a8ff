import { randomUUID } from 'node:crypto'
import { RequestError, type StopReason } from '@agentclientprotocol/sdk'
import type { AgentFollowed } from '../verbs/follow-calls.ts'
import { stopReasonOf } from './stop-reason.ts'

type Item = Extract<AgentFollowed, { type: 'item' }>['item']
type State = Extract<AgentFollowed, { type: 'state' }>
export type TurnEnd = Extract<Item, { type: 'turn_ended' }>['payload']

/**
 * A prompt that has no answer yet. The session log says which turn took it and how that turn ended, so the answer survives
 * restarts of the daemon.
 *
 * | it is     | until                                                    |
 * | given     | Reeve has answered: a turn has started, or it is waiting |
 * | waiting   | a turn takes it, or it is removed                        |
 * | in a turn | the turn ends, or the agent is paused                    |
 */
export class OpenPrompt {
  /** The id of the input: a repeated request is the same input. */
  readonly id = randomUUID()
  readonly #answer = Promise.withResolvers<StopReason>()
  readonly #given = Promise.withResolvers<void>()
  #turn: number | null = null
  /** The revision of the agent at which the input was known to wait. */
  #waitsSince: number | null = null
  #isSettled = false

  constructor() {
    // It may fail before its answer is awaited.
    this.#answer.promise.catch(() => {})
  }

  get answer(): Promise<StopReason> {
    return this.#answer.promise
  }

  /** Resolves when Reeve has answered, or the prompt is settled. */
  get given(): Promise<void> {
    return this.#given.promise
  }

  get turn(): number | null {
    return this.#turn
  }

  get isSettled(): boolean {
    return this.#isSettled
  }

  startedIn(turn: number): void {
    this.#turn = turn
    this.#given.resolve()
  }

  waitsSince(revision: number): void {
    this.#waitsSince = revision
    this.#given.resolve()
  }

  /** Notes what the log says about the prompt. */
  heard(item: Item): void {
    switch (item.type) {
      case 'turn_begun':
      case 'input_promoted':
        if (item.payload.input === this.id) this.#turn = item.payload.turn
        break
      case 'turn_ended':
        if (item.payload.turn === this.#turn) this.ended(item.payload)
        break
      default:
        break
    }
  }

  /** Whether this state settles the prompt by a pause: its turn has not ended, and goes on only if a person says so. */
  pausedIn({ phase, record }: State): boolean {
    const { agent } = record
    if (this.#turn !== null) return phase === 'paused' && agent?.turn?.number === this.#turn
    const isKnown = this.#waitsSince !== null && record.revision >= this.#waitsSince
    if (isKnown && agent?.inputs.every(({ id }) => id !== this.id) === true) this.settle('cancelled')
    return false
  }

  ended(end: Pick<TurnEnd, 'reason' | 'message'>): void {
    const stop = stopReasonOf(end)
    if (stop instanceof RequestError) this.fail(stop)
    else this.settle(stop)
  }

  settle(stop: StopReason): void {
    this.#isSettled = true
    this.#answer.resolve(stop)
    this.#given.resolve()
  }

  fail(error: unknown): void {
    this.#isSettled = true
    this.#answer.reject(error)
    this.#given.resolve()
  }
}
