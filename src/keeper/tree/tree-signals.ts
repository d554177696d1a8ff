import { isAlive } from '../../os/identity.ts'
import { isForbidden } from '../../os/proc-files.ts'
import { isLeaf } from '../../os/program-marks.ts'
import { signalExact } from '../../os/signal.ts'
import { statOf } from '../../os/stat.ts'
import type { ProgramIdentity } from '../protocol/program-state.ts'
import { killCgroup } from './cgroup-files.ts'
import { isAllOurs, type Member } from './members.ts'

/** Sends signals to one tree, and records their effect. */
export class TreeSignals {
  readonly #program: ProgramIdentity
  #onFirst: (() => void) | undefined
  readonly #asked = new Set<string>()
  readonly #stopped = new Set<string>()
  #isAsked = false
  #isForced = false

  /** `onFirst` is called with the first signal that reaches a process, if the program lived right before it. */
  constructor(program: ProgramIdentity, onFirst: (() => void) | undefined) {
    this.#program = program
    this.#onFirst = onFirst
  }

  /** The strongest effect so far; null if no signal reached a process. */
  get done(): 'asked' | 'forced' | null {
    if (this.#isForced) return 'forced'
    return this.#isAsked ? 'asked' : null
  }

  /** Sends each process a signal once, until the signal changes. */
  ask(members: readonly Member[], signal: string): void {
    for (const member of members) {
      const key = `${signal} ${keyOf(member)}`
      if (this.#asked.has(key)) continue
      this.#asked.add(key)
      if (!this.#send(member, signal)) continue
      this.#isAsked = true
    }
    this.goOn(members)
  }

  /**
   * Resumes stopped processes, because they act on no signal but SIGKILL until then. Called repeatedly: a process that was just
   * told to stop stops a moment later.
   */
  goOn(members: readonly Member[]): void {
    for (const member of members) if (statOf(member.osPid)?.state === 'T') this.#send(member, 'SIGCONT')
  }

  /** Stops each process once. False if all were stopped already. */
  stop(members: readonly Member[]): boolean {
    const running = members.filter((member) => !this.#stopped.has(keyOf(member)))
    for (const member of running) {
      this.#stopped.add(keyOf(member))
      if (this.#send(member, 'SIGSTOP')) this.#isForced = true
    }
    return running.length > 0
  }

  /** Kills all processes in the cgroup first, including forks in progress. */
  kill(members: readonly Member[]): void {
    this.killCgroup()
    for (const member of members) if (this.#send(member, 'SIGKILL')) this.#isForced = true
  }

  killCgroup(): void {
    const { cgroup } = this.#program
    if (cgroup === null || !isLeaf(cgroup) || !isAllOurs(this.#program)) return
    if (this.#tellFirst(() => killCgroup(cgroup))) this.#isForced = true
  }

  #send({ osPid, startTime }: Member, signal: string): boolean {
    try {
      return this.#tellFirst(() => signalExact(osPid, startTime, signal))
    } catch (error) {
      // It runs as another user, through sudo perhaps. It lives on, and is named as a survivor.
      if (isForbidden(error)) return false
      throw error
    }
  }

  /** A signal that reached no process does not count. The exit event comes in a later turn than this call. */
  #tellFirst(send: () => boolean): boolean {
    const tell = this.#onFirst
    const { osPid, startTime } = this.#program
    const livedBefore = tell !== undefined && startTime !== null && isAlive(osPid, startTime)
    if (!send()) return false
    this.#onFirst = undefined
    if (livedBefore) tell()
    return true
  }
}

/** Names one OS process of this boot. */
export function keyOf({ osPid, startTime }: Member): string {
  return `${osPid}:${startTime}`
}
