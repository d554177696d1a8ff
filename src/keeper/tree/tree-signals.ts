import { isAlive } from '../../os/identity.ts'
import { isForbidden } from '../../os/proc-files.ts'
import { signalExact } from '../../os/signal.ts'
import { statOf } from '../../os/stat.ts'
import type { ProgramIdentity } from '../protocol/messages.ts'
import { isLeaf, killCgroup } from './cgroup-files.ts'
import { isAllOurs, type Member } from './members.ts'

/** The signals that one tree is sent, and what became of them. */
export class TreeSignals {
  readonly #program: ProgramIdentity
  #onFirst: (() => void) | undefined
  readonly #asked = new Set<string>()
  readonly #stopped = new Set<string>()
  #isAsked = false
  #isForced = false

  /** `onFirst` is called with the first that reaches anybody, if the program lived right before it. */
  constructor(program: ProgramIdentity, onFirst: (() => void) | undefined) {
    this.#program = program
    this.#onFirst = onFirst
  }

  /** What was done to them; null if no signal reached anybody. */
  get done(): 'asked' | 'forced' | null {
    if (this.#isForced) return 'forced'
    return this.#isAsked ? 'asked' : null
  }

  /** Each is asked once with one signal, until that is another. */
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
   * One that is stopped acts on no signal but SIGKILL until it goes on. To be asked for again and again: who was told to stop
   * just before stands still a moment later only.
   */
  goOn(members: readonly Member[]): void {
    for (const member of members) if (statOf(member.osPid)?.state === 'T') this.#send(member, 'SIGCONT')
  }

  /** Each is stopped once. False when all were already. */
  stop(members: readonly Member[]): boolean {
    const running = members.filter((member) => !this.#stopped.has(keyOf(member)))
    for (const member of running) {
      this.#stopped.add(keyOf(member))
      if (this.#send(member, 'SIGSTOP')) this.#isForced = true
    }
    return running.length > 0
  }

  /** First all that are in the cgroup, with those that they are just giving birth to. */
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
      // It runs as another user, by sudo perhaps. It is still there, and is named as a survivor.
      if (isForbidden(error)) return false
      throw error
    }
  }

  /** A signal that reached nobody is none. Its exit can't have been heard of when this is told: that takes another turn. */
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
