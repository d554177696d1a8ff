import { join } from 'node:path'
import { numberIn, readCgroup } from './cgroup-files.ts'

/**
 * The keeper's own share in the counters of leaves, from its time in them before and after a fork: it is not the program's usage.
 * The system moves the keeper somewhat before the keeper notices; its usage in between is all that the new leaf has counted
 * by then.
 */
export class KeeperUsage {
  readonly #cpuUs = new Map<string, number>()
  readonly #memoryBytes = new Map<string, number>()
  #standsIn: string | null = null
  /** The keeper's CPU time when it noticed its last move. */
  #since = 0

  moved(from: string | null, to: string | null): void {
    const now = ownCpuUs()
    const alreadyThere = to === null ? 0 : (cpuUsOf(to) ?? 0)
    if (from !== null) this.#cpuUs.set(from, (this.#cpuUs.get(from) ?? 0) + now - this.#since - alreadyThere)
    if (to !== null) this.#cpuUs.set(to, alreadyThere)
    this.#standsIn = to
    this.#since = now
  }

  taken(leaf: string): void {
    const bytes = readCgroup(join(leaf, 'memory.current'))
    if (bytes !== null) this.#memoryBytes.set(leaf, Number(bytes))
  }

  /** The CPU time of a leaf without the keeper's; null if the keeper's is not known, or the leaf is gone. */
  cpuUsWithout(leaf: string): number | null {
    const counted = cpuUsOf(leaf)
    const share = this.#cpuUs.get(leaf)
    if (counted === null || share === undefined) return null
    const now = this.#standsIn === leaf ? ownCpuUs() - this.#since : 0
    return Math.max(0, counted - share - now)
  }

  /** The memory that was charged to a leaf before it was taken. */
  memoryBytes(leaf: string): number {
    return this.#memoryBytes.get(leaf) ?? 0
  }

  forget(leaf: string): void {
    this.#cpuUs.delete(leaf)
    this.#memoryBytes.delete(leaf)
  }
}

function cpuUsOf(leaf: string): number | null {
  const text = readCgroup(join(leaf, 'cpu.stat'))
  return text === null ? null : numberIn(text, 'usage_usec')
}

function ownCpuUs(): number {
  const { user, system } = process.cpuUsage()
  return user + system
}
