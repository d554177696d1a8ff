import type { Pid } from '../../core/process/pid.ts'
import { KeeperRefused } from '../keeper-link.ts'

/** The reports of a keeper that logs grow. */
interface GrowthReports {
  /** Asks the keeper to start or stop reporting that the log of `pid` grows. */
  readonly tellOf: (pid: Pid, on: boolean) => Promise<unknown>
  readonly inBackground: (doing: string, task: () => Promise<unknown>) => void
}

/**
 * Callbacks for the growth of logs. All followers of a log share one subscription at the keeper that writes it. Logs that this
 * program writes itself, the live logs of agents, need none.
 */
export class LogFollowers {
  readonly #reports: GrowthReports | null
  readonly #followers = new Map<Pid, Set<() => void>>()

  constructor(reports: GrowthReports | null) {
    this.#reports = reports
  }

  follow(pid: Pid, grew: () => void): () => void {
    const followers = this.#followers.get(pid) ?? new Set()
    followers.add(grew)
    this.#followers.set(pid, followers)
    if (followers.size === 1) this.#tell(pid, true, grew)
    return () => {
      followers.delete(grew)
      if (followers.size > 0 || this.#followers.get(pid) !== followers) return
      this.#followers.delete(pid)
      this.#tell(pid, false)
    }
  }

  grew(pid: Pid): void {
    for (const grew of this.#followers.get(pid) ?? []) grew()
  }

  wakeAll(): void {
    for (const pid of this.#followers.keys()) this.grew(pid)
  }

  /** A new connection has no subscriptions. */
  askAgain(): void {
    for (const pid of this.#followers.keys()) this.#tell(pid, true)
  }

  #tell(pid: Pid, on: boolean, then: () => void = () => {}): void {
    const reports = this.#reports
    if (reports === null) return
    reports.inBackground(`following ${pid}`, async () => {
      try {
        await reports.tellOf(pid, on)
      } catch (error) {
        // The keeper has forgotten the program, and its log does not grow any more.
        if (!(error instanceof KeeperRefused)) throw error
      }
      then()
    })
  }
}
