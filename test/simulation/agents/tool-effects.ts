import type { Pid } from '../../../src/core/process/pid.ts'
import type { Ledger } from '../ledger.ts'
import type { Stage } from '../stage.ts'
import { LAWS } from './laws.ts'

/** What the tools of agents did, counted outside of Reeve: by the tool call that asked for it. */
export class ToolEffects {
  readonly #stage: Stage
  readonly #ledger: Ledger
  readonly #begun = new Map<string, number>()
  readonly #returned = new Map<string, string[]>()
  #count = 0

  constructor(stage: Stage, ledger: Ledger) {
    this.#stage = stage
    this.#ledger = ledger
  }

  /** A tool begins its work. One that may not be repeated does so once for each call, however often kernels die. */
  begin(pid: Pid): void {
    const { owner, recovery } = this.#ledger.entry(pid)?.record ?? {}
    const call = owner?.toolCall ?? pid
    const times = (this.#begun.get(call) ?? 0) + 1
    this.#begun.set(call, times)
    if (times > 1 && recovery !== 'rerunnable')
      this.#stage.violated(LAWS.effects, `${call} runs for the ${times}. time, as ${pid}`)
  }

  /** The result of the work, which no other execution has. */
  end(pid: Pid): string {
    this.#count += 1
    const output = `effect ${this.#count}`
    const call = this.#ledger.entry(pid)?.record.owner.toolCall ?? pid
    this.#returned.set(call, [...this.returned(call), output])
    return output
  }

  returned(call: string): readonly string[] {
    return this.#returned.get(call) ?? []
  }
}
