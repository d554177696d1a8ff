import { messageOf } from '../base/error-text.ts'
import { bootId } from '../os/boot.ts'
import { isLeaf } from '../os/program-marks.ts'
import type { LiveFiles } from './program/live-files.ts'
import type { ProgramIdentity } from './protocol/program-state.ts'
import { cgroupMembers } from './tree/cgroup-files.ts'
import type { Cgroups } from './tree/cgroups.ts'

interface LeftBehindOptions {
  readonly live: LiveFiles
  readonly cgroups: Cgroups | null
  trouble(pid: string, message: string): void
}

/**
 * OS processes that programs left running in their cgroups. They may carry no marker, so the cgroup is the only way to find
 * them: it is kept on disk until the last of them is gone.
 */
export class LeftBehind {
  readonly #options: LeftBehindOptions

  constructor(options: LeftBehindOptions) {
    this.#options = options
  }

  identityOf(pid: string): ProgramIdentity | undefined {
    return this.#options.live.leftOf(pid)
  }

  /** The pids whose cgroups are still in use. */
  pids(): string[] {
    const { live } = this.#options
    return live.lefts().filter((pid) => isInUse(live.leftOf(pid)))
  }

  /** The program is about to be forgotten: keeps its cgroup if OS processes are left in it. */
  remember(pid: string, program: ProgramIdentity): void {
    try {
      if (!hasMembers(program)) return
      this.#options.live.writeLeft(pid, program)
      this.#removeWhenEmpty(pid, program)
    } catch (error) {
      this.#options.trouble(pid, `What it has left behind is forgotten: ${messageOf(error)}.`)
    }
  }

  /** At the start: reads the entries of this keeper or an earlier one. */
  recall(): void {
    const { live, trouble } = this.#options
    for (const pid of live.lefts()) {
      try {
        const program = live.leftOf(pid)
        if (program !== undefined && isInUse(program)) this.#removeWhenEmpty(pid, program)
        else live.forgetLeft(pid)
      } catch (error) {
        trouble(pid, `What it has left behind can't be looked at: ${messageOf(error)}.`)
      }
    }
  }

  #removeWhenEmpty(pid: string, { cgroup }: ProgramIdentity): void {
    const { cgroups, live } = this.#options
    if (cgroup !== null) cgroups?.remove(cgroup, () => live.forgetLeft(pid))
  }
}

/** A cgroup of an earlier boot is gone, and its path may name another. */
function isInUse(program: ProgramIdentity | undefined): boolean {
  return program?.boot === bootId() && hasMembers(program)
}

function hasMembers({ cgroup }: ProgramIdentity): boolean {
  return cgroup !== null && isLeaf(cgroup) && cgroupMembers(cgroup).some((osPid) => osPid !== process.pid)
}
