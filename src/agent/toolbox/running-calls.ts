import type { Pid } from '../../core/process/pid.ts'
import type { ProcessRecord } from '../../core/process/record.ts'
import type { Work } from '../../kernel/executor.ts'

/** A call that this program runs, for tools that start processes. */
export interface RunningCall {
  readonly work: Work
  readonly agent: ProcessRecord
}

/** The calls of built-in tools that run here, by pid. */
export class RunningCalls {
  readonly #calls = new Map<Pid, RunningCall>()

  async during<Answer>(call: RunningCall, run: () => Promise<Answer>): Promise<Answer> {
    const { pid } = call.work.record
    this.#calls.set(pid, call)
    try {
      return await run()
    } finally {
      if (this.#calls.get(pid) === call) this.#calls.delete(pid)
    }
  }

  of(pid: Pid): RunningCall {
    const call = this.#calls.get(pid)
    if (call === undefined) throw new Error(`${pid} is no call that runs here`)
    return call
  }
}
