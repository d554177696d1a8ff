import type { Pid } from '../../core/process/pid.ts'

/** Callbacks for the growth of logs that this program writes itself: the live logs of agents. */
export class LiveGrowth {
  readonly #followers = new Map<Pid, Set<() => void>>()

  follow(pid: Pid, grew: () => void): () => void {
    const followers = this.#followers.get(pid) ?? new Set()
    followers.add(grew)
    this.#followers.set(pid, followers)
    return () => {
      followers.delete(grew)
      if (followers.size === 0 && this.#followers.get(pid) === followers) this.#followers.delete(pid)
    }
  }

  grew(pid: Pid): void {
    for (const grew of this.#followers.get(pid) ?? []) grew()
  }
}
