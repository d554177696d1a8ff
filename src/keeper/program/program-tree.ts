import { startTimeOf, whoIs } from '../../os/identity.ts'
import { readProc } from '../../os/proc-files.ts'
import { signalExact } from '../../os/signal.ts'
import { isOver, statOf } from '../../os/stat.ts'
import type { EndAnswer } from '../protocol/messages.ts'
import type { ProgramIdentity, Usage } from '../protocol/program-state.ts'
import type { Cgroups } from '../tree/cgroups.ts'
import { type EndHow, TreeEnd } from '../tree/end-tree.ts'
import { type Member, membersOf } from '../tree/members.ts'
import type { ProcTable } from '../tree/proc-table.ts'
import { signalGroup } from '../tree/signal-group.ts'
import { countedOf, joined, memoryOf, sampleOf, usageOf, withCounted } from '../tree/usage.ts'

/** A program and its descendants: signals them, ends them, and measures their usage. */
export class ProgramTree {
  readonly identity: ProgramIdentity
  readonly #marker: string
  readonly #cgroups: Cgroups | null
  #end: TreeEnd | null = null
  #usage: Usage | null = null
  #hasBegun = false

  constructor(identity: ProgramIdentity, marker: string, cgroups: Cgroups | null) {
    this.identity = identity
    this.#marker = marker
    this.#cgroups = identity.cgroup === null ? null : cgroups
  }

  /** Resolves when the end is complete. A call during an end joins it; the shorter grace and the stronger signal count. */
  async end(how: EndHow): Promise<EndAnswer> {
    if (this.#end !== null) {
      this.#end.strengthen(how.signal, how.graceMs)
      return this.#end.done
    }
    const end = new TreeEnd({ program: this.identity, marker: this.#marker }, how)
    this.#end = end
    try {
      return await end.done
    } finally {
      this.#end = null
    }
  }

  /** The program itself has ended: wakes an end in progress. */
  leaderGone(): void {
    this.#end?.nudge()
  }

  signal(signal: string, to: 'process' | 'group'): 'sent' | 'ended' | 'not_ours' {
    if (to === 'group') return signalGroup(this.identity, signal, this.#marker)
    const { osPid, startTime } = this.identity
    const who = whoIs(this.identity)
    if (who === 'gone') return 'ended'
    if (who !== 'ours' || startTime === null) return 'not_ours'
    return signalExact(osPid, startTime, signal) ? 'sent' : 'ended'
  }

  /** Parents before children, so that no parent sees a child stop and acts upon it. */
  stop(): number {
    return this.#signalAll('SIGSTOP', (members) => members.reverse())
  }

  /** Children before parents. */
  goOn(): number {
    return this.#signalAll('SIGCONT', (members) => members)
  }

  /** How many processes live. Null if only a scan of all OS processes could tell. */
  count(): number | null {
    const { cgroup } = this.identity
    if (cgroup === null || this.#cgroups === null) return null
    return this.#cgroups.members(cgroup).filter(isNotKeepers).length
  }

  isEmpty(table?: ProcTable): boolean {
    return membersOf(this.identity, this.#marker, table === undefined ? {} : { table }).length === 0
  }

  usage(table?: ProcTable): Usage {
    const now = usageOf(this.identity, this.#marker, this.#cgroups, table)
    this.#usage = joined(this.#usage, now)
    return { ...this.#usage, memoryBytes: now.memoryBytes ?? null }
  }

  /** Samples the program itself and its cgroup, without a scan of all OS processes. */
  sample(): void {
    const { osPid, startTime, cgroup } = this.identity
    this.#hasBegun ||= readProc(`/proc/${osPid}/cmdline`) !== ownCommand()
    if (!this.#hasBegun || startTime === null || startTimeOf(osPid) !== startTime) return
    const others = cgroup === null ? [] : (this.#cgroups?.members(cgroup) ?? [])
    const known = others.slice(0, MAX_SAMPLED).filter((other) => other !== osPid && isNotKeepers(other))
    this.#usage = joined(this.#usage, sampleOf([osPid, ...known]))
  }

  /** The usage at the end: the system's counters, and the last samples for the rest. */
  lastUsage(): Usage | null {
    const counted = countedOf(this.identity, this.#cgroups)
    const isCounted = counted.cpuMs !== null || counted.peakMemoryBytes !== null
    return isCounted ? withCounted(this.#usage, counted) : this.#usage
  }

  memoryBytes(table: ProcTable): number {
    return memoryOf(this.identity, this.#marker, table)
  }

  /** Whether the system's OOM killer has ended one of them because of its memory limit. */
  wasOutOfMemory(): boolean {
    const { cgroup, memoryBy } = this.identity
    return memoryBy === 'cgroup' && cgroup !== null && (this.#cgroups?.memoryKills(cgroup) ?? 0) > 0
  }

  /** Removes its cgroup, now or when it is empty. */
  forget(): void {
    if (this.identity.cgroup !== null) this.#cgroups?.remove(this.identity.cgroup)
  }

  #signalAll(signal: 'SIGSTOP' | 'SIGCONT', inOrder: (members: Member[]) => Member[]): number {
    const members = inOrder(membersOf(this.identity, this.#marker))
    return members.filter(({ osPid, startTime }) => signalExact(osPid, startTime, signal)).length
  }
}

/** How many processes are sampled: enough for a value that is not exact anyway. */
const MAX_SAMPLED = 32

let own: string | null = null

/** A process with this command line is a fork of the keeper before its exec. */
function ownCommand(): string {
  own ??= readProc('/proc/self/cmdline') ?? ''
  return own
}

/** Helpers of the keeper itself, such as mkfifo, may start in a program's cgroup. */
function isNotKeepers(osPid: number): boolean {
  const stat = statOf(osPid)
  return stat !== null && stat.ppid !== process.pid && !isOver(stat)
}
