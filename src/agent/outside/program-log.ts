import type { AgentAct, UpdateStep } from '../../core/agent/act.ts'
import type { ProgramState } from '../../core/agent/outside.ts'
import { RefusedError } from '../../core/errors.ts'
import type { JsonObject } from '../../core/json/json.ts'
import type { ProcessRecord } from '../../core/process/record.ts'
import type { BlobContent } from '../../kernel/blobs.ts'
import type { AgentLedger } from '../agent-ledger.ts'
import { storeParts } from '../parts/stored-parts.ts'

type Updates = Extract<AgentAct, { type: 'record_updates' }>
type Change = Partial<Omit<ProgramState, 'pid'>>
type Ending = Pick<Updates, 'closes' | 'ends' | 'numbers'>

/** Writes the steps of a program and the state of its conversation, one act after the other. */
export class ProgramLog {
  readonly #ledger: AgentLedger
  #state: ProgramState
  #last: Promise<unknown> = Promise.resolve()

  constructor(ledger: AgentLedger, state: ProgramState) {
    this.#ledger = ledger
    this.#state = state
  }

  get state(): ProgramState {
    return this.#state
  }

  /** Runs one task after the other: the numbers of writes to the program must rise. */
  inOrder<Value>(task: () => Promise<Value>): Promise<Value> {
    const done = this.#last.then(task, task)
    this.#last = done.catch(() => undefined)
    return done
  }

  /** Whether the steps are in the log: a turn that is over takes none, and then only the state is noted. */
  async record(
    turn: number,
    model: string,
    steps: readonly UpdateStep[],
    change: (state: ProgramState) => Change,
    key: string,
    ending: Ending = {},
  ): Promise<boolean> {
    const blobs: BlobContent[] = []
    const stored = steps.map((step) => {
      if (!('parts' in step)) return step
      const split = storeParts(step.parts)
      blobs.push(...split.blobs)
      return { ...step, parts: split.parts }
    })
    const program = { ...this.#state, ...change(this.#state) }
    try {
      const act: Updates = { type: 'record_updates', turn, model, steps: stored, program, key, ...ending }
      this.#took(await this.#ledger.act(act, blobs))
      return true
    } catch (error) {
      if (!(error instanceof RefusedError) || !OVER.has(error.code)) throw error
    }
    await this.note(change, `${key}:late`, ending.numbers)
    return false
  }

  async note(
    change: (state: ProgramState) => Change,
    key: string,
    numbers?: Updates['numbers'],
  ): Promise<void> {
    const program = { ...this.#state, ...change(this.#state) }
    const numbered = numbers === undefined ? {} : { numbers }
    this.#took(await this.#ledger.act({ type: 'note_program', program, key, ...numbered }))
  }

  /** Notes a short message that is to be written under the number of the note. */
  async noteSent(
    message: JsonObject,
    change: (state: ProgramState) => Change,
    key: string,
  ): Promise<NonNullable<ProgramState['sent']>> {
    await this.note((state) => ({ ...change(state), sent: { seq: 0, message } }), key, 'sent')
    const { sent } = this.#state
    if (sent === null) throw new Error(`${this.#state.pid} has no note of a message to it`)
    return sent
  }

  #took({ agent }: ProcessRecord): void {
    const program = agent?.program
    if (program !== undefined) this.#state = program
  }
}

/** The turn has ended, or its call was closed. */
const OVER: ReadonlySet<string> = new Set(['turn_ended', 'conflict'])
