import { Nudge } from '../../base/nudge.ts'
import { bootId } from '../../os/boot.ts'
import { isOutOfDescriptors } from '../../os/descriptors.ts'
import { isAlive, isPidInUse, whoIs } from '../../os/identity.ts'
import type { EndAnswer } from '../protocol/messages.ts'
import type { ProgramIdentity } from '../protocol/program-state.ts'
import { TreeLook } from './tree-look.ts'
import { keyOf, TreeSignals } from './tree-signals.ts'

export interface EndTarget {
  readonly program: ProgramIdentity
  readonly marker: string
}

export interface EndHow {
  readonly signal: string
  /** The time before the tree is forced. 0: never forced. */
  readonly graceMs: number
  /**
   * Called once, right after the first signal that reached a process of the tree, if the program itself lived right before: it
   * may exit by itself a moment later, because a child of it was ended, and that still counts as our doing.
   */
  readonly onSignalled?: () => void
}

/** Ends a program and its descendants; see TreeEnd. */
export function endTree(target: EndTarget, how: EndHow): Promise<EndAnswer> {
  return new TreeEnd(target, how).done
}

/** Pauses between two scans during the grace: the first, the longest, and the longest after a while. */
const FIRST_PAUSE_MS = 5
const MAX_PAUSE_MS = 50
const PATIENT_AFTER_MS = 10_000
const PATIENT_PAUSE_MS = 500

/**
 * SIGKILL works at once, unless the process hangs in the kernel. The scan for survivors goes on until none has gone for the first
 * time, and never longer than the second: a great many, on a busy machine, take long to go.
 */
const FORCE_MS = 2_000
const FORCE_AT_MOST_MS = 10_000
const FORCE_PAUSE_MS = 10

/** A tree that grows faster than it can be stopped is killed as it is, scan by scan. */
const STOP_LOOKS = 10
const STOP_MS = 500

/** An end that ran out of descriptors is retried at this interval, for five minutes at most. */
const REPEAT_MS = 200
const MAX_TRIES = 1_500

/** The order of strength, for two requests at once. Any other signal is weaker. */
const STRENGTH: Readonly<Record<string, number>> = {
  SIGHUP: 1,
  SIGINT: 1,
  SIGTERM: 2,
  SIGQUIT: 3,
  SIGKILL: 4,
}

/**
 * The end of one tree, in progress.
 *
 * | state   | action                                              | then                                     |
 * | looking | checks the identity, then lists the members         | asking; `not_ours`, `already_gone`       |
 * | asking  | the signal, children before parents; looks          | `asked`; forcing, when the grace is over |
 * | forcing | the cgroup is killed; who is left is stopped, so    | `forced`; `survived`, when time is up    |
 * |         | that none is born, and then killed; looks           |                                          |
 *
 * Invariant: `already_gone`, `asked` and `forced` are answered only after `isGone` has seen that no process is left.
 */
export class TreeEnd {
  readonly done: Promise<EndAnswer>
  readonly #program: ProgramIdentity
  readonly #tree: TreeLook
  readonly #signals: TreeSignals
  #signal: string
  #forceAt: number
  readonly #nudge = new Nudge()

  constructor(target: EndTarget, how: EndHow) {
    this.#program = target.program
    this.#tree = new TreeLook(target.program, target.marker)
    this.#signals = new TreeSignals(target.program, how.onSignalled)
    this.#signal = how.signal
    this.#forceAt = forceAt(how.graceMs)
    this.done = this.#runRepeated()
  }

  /** A stronger signal or a shorter grace counts from now on; a weaker or longer one changes nothing. */
  strengthen(signal: string, graceMs: number): void {
    if (strengthOf(signal) > strengthOf(this.#signal)) this.#signal = signal
    this.#forceAt = Math.min(this.#forceAt, forceAt(graceMs))
    this.nudge()
  }

  /** Scans at once: something has changed, perhaps the program has ended. */
  readonly nudge = (): void => {
    this.#nudge.give()
  }

  /** Retries a scan that ran out of descriptors: nothing else would end this tree. */
  async #runRepeated(): Promise<EndAnswer> {
    for (let tries = 1; ; tries++) {
      try {
        return await this.#run()
      } catch (error) {
        if (!isOutOfDescriptors(error) || tries === MAX_TRIES) throw error
        await this.#nudge.within(REPEAT_MS)
      }
    }
  }

  async #run(): Promise<EndAnswer> {
    const who = whoIs(this.#program)
    if (bootId() === '' || (who === 'unreadable' && isPidInUse(this.#program.osPid)))
      return { how: 'not_ours' }
    const isGone = await this.#tree.isGone()
    // Another program with our marker: the record cannot be right, and nothing is signalled.
    if (who === 'stranger' && (isGone || (await this.#tree.isProgramMarked()))) return { how: 'not_ours' }
    return isGone || (await this.#ask()) ? this.#gone() : await this.#force()
  }

  /** True when all are gone; false when they must be forced. */
  async #ask(): Promise<boolean> {
    const begun = performance.now()
    let askedWith: string | null = null
    let pauseMs = FIRST_PAUSE_MS
    let hasLooked = false
    for (;;) {
      const now = performance.now()
      if (this.#signal === 'SIGKILL' || now >= this.#forceAt) return false
      if (askedWith !== this.#signal) {
        askedWith = this.#signal
        this.#signals.ask(this.#tree.members, askedWith)
        pauseMs = FIRST_PAUSE_MS
      }
      await this.#nudge.within(Math.min(pauseMs, this.#forceAt - now))
      pauseMs = Math.min(pauseMs * 1.5, now - begun < PATIENT_AFTER_MS ? MAX_PAUSE_MS : PATIENT_PAUSE_MS)

      // A full scan costs more than a check of known processes, and is only needed if it may find new ones.
      const living = this.#tree.members.filter(({ osPid, startTime }) => isAlive(osPid, startTime))
      this.#signals.goOn(living)
      const hasProgramLeft = this.#hasProgram() && !living.some((member) => this.#tree.isProgram(member))
      if (hasLooked && living.length > 0 && !hasProgramLeft) continue
      hasLooked = true
      if (await this.#tree.isGone()) return true
      // Processes started after the signal are left to the program, which may be cleaning up; not once it is gone.
      if (!this.#hasProgram()) this.#signals.ask(this.#tree.members, askedWith)
    }
  }

  async #force(): Promise<EndAnswer> {
    const begun = performance.now()
    this.#signals.killCgroup()
    await this.#stopAll(begun + STOP_MS)
    let known = new Set<string>()
    let until = performance.now() + FORCE_MS
    while (!(await this.#tree.isGone())) {
      const now = performance.now()
      const { members } = this.#tree
      // Their number says nothing: a tree that forks as fast as it is killed keeps its size.
      const living = new Set(members.map(keyOf))
      if ([...known].some((key) => !living.has(key)))
        until = Math.min(now + FORCE_MS, begun + FORCE_AT_MOST_MS)
      known = living
      if (now >= until)
        return { how: 'survived', survivors: members.map(({ osPid, name }) => ({ osPid, name })) }
      this.#signals.kill(members)
      await this.#nudge.within(FORCE_PAUSE_MS)
    }
    return this.#gone()
  }

  /** A stopped process cannot fork, and still leads to its children: so none is lost from sight. */
  async #stopAll(until: number): Promise<void> {
    for (let look = 0; look < STOP_LOOKS && performance.now() < until; look++) {
      await this.#tree.again()
      if (!this.#signals.stop(this.#tree.members)) return
    }
  }

  /** Only after `isGone`. */
  #gone(): EndAnswer {
    return { how: this.#signals.done ?? 'already_gone' }
  }

  #hasProgram(): boolean {
    return this.#tree.members.some((member) => this.#tree.isProgram(member))
  }
}

function forceAt(graceMs: number): number {
  return graceMs > 0 ? performance.now() + graceMs : Number.POSITIVE_INFINITY
}

function strengthOf(signal: string): number {
  return STRENGTH[signal] ?? 0
}
