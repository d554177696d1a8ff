import type { Pid } from '../core/process/pid.ts'
import type { HeldBack, ProgramState } from '../keeper/protocol/program-state.ts'

/** Commands whose output a keeper holds back, because the disk is full. */
export class HeldBackOutput {
  readonly #held = new Map<Pid, HeldBack>()

  of(pid: Pid): HeldBack | undefined {
    return this.#held.get(pid)
  }

  all(): readonly HeldBack[] {
    return [...this.#held.values()]
  }

  told(pid: Pid, heldBack: HeldBack | null): void {
    if (heldBack === null) this.#held.delete(pid)
    else this.#held.set(pid, heldBack)
  }

  /** The hello of a keeper lists all output that it holds back. */
  reset(programs: readonly ProgramState[]): void {
    this.#held.clear()
    for (const state of programs)
      if (state.state === 'running') this.told(state.pid as Pid, state.heldBack ?? null)
  }
}
