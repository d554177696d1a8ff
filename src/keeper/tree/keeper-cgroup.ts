import { type FileHandle, mkdir, open, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { startTimeOf } from '../../os/identity.ts'
import { cgroupMembers } from './cgroup-files.ts'

/** How many leaves are tried if one cannot be entered. */
const TRIES = 5

/** The moves of the keeper. */
export interface KeeperCgroupEvents {
  /** The keeper moved from one leaf to another; null is its original cgroup. */
  moved(from: string | null, to: string | null): void
  /** A process was forked into this leaf without `take`: no program gets it. */
  foundUsed(leaf: string): void
}

/**
 * The cgroup that the keeper itself is in, in which the program that it forks next starts.
 *
 * | the keeper is      | `ready()`                                              | `take()`                          |
 * | alone in a leaf    | the turn goes to the one who waits longest             | that leaf; then it moves on       |
 * | between two leaves | waits                                                  | throws: no turn is granted        |
 * | in its original cgroup | tries a leaf again, then gives the turn            | null: no leaf is available        |
 * | in a used leaf     | tries again, then rejects: two programs would share it | throws                            |
 *
 * A turn lasts until the next turn of the event loop: a caller that has not taken by then has lost it. The next leaf is always
 * made in advance, so that a move is one write.
 */
export class KeeperCgroup {
  readonly #base: string
  readonly #origin: string
  readonly #names: string
  readonly #events: KeeperCgroupEvents
  #made = 0
  /** Null: the original cgroup. */
  #leaf: string | null = null
  #isUsed = false
  #isLeaving = false
  #trouble: unknown
  #next: Promise<NextLeaf | null> | null = null
  #moving: Promise<void> = Promise.resolve()
  #turns: Promise<void> = Promise.resolve()
  #endTurn: (() => void) | null = null

  /** Leaves are made below `base`; `origin` is the keeper's original cgroup. */
  constructor(base: string, origin: string, events: KeeperCgroupEvents) {
    this.#base = base
    this.#origin = origin
    this.#names = `${process.pid}-${startTimeOf(process.pid)}`
    this.#events = events
  }

  get leaf(): string | null {
    return this.#leaf
  }

  /** Moves into the first leaf, if one is available. */
  async enter(): Promise<void> {
    this.#moving = this.#moveOn()
    await this.#moving
  }

  ready(): Promise<void> {
    const granted = this.#turns.then(() => this.#comeToRest())
    this.#turns = granted.then(
      () => this.#turnIsOver(),
      // The caller of this turn gets the error; the next one has a turn of its own.
      () => {},
    )
    return granted
  }

  take(): string | null {
    if (this.#endTurn === null) throw new Error('A leaf was taken without ready(), or too late after it')
    this.#endTurn()
    if (this.#leaf === null) return null
    this.#isUsed = true
    this.#moving = this.#moveOn()
    return this.#leaf
  }

  /** Moves back to the original cgroup. False if that is not possible any more. */
  async leave(): Promise<boolean> {
    this.#isLeaving = true
    await this.#moving
    const next = await this.#next
    this.#next = null
    await next?.members.close()
    return this.#leaf === null || (await this.#goBack())
  }

  async #comeToRest(): Promise<void> {
    await this.#moving
    if (this.#isLeaving) throw new Error('The keeper is leaving its cgroups')
    const untaken = this.#isUsed || this.#leaf === null || isAlone(this.#leaf) ? null : this.#leaf
    if (untaken !== null) this.#isUsed = true
    if (this.#isUsed || this.#leaf === null) this.#moving = this.#moveOn()
    await this.#moving
    if (untaken !== null) this.#events.foundUsed(untaken)
    if (this.#isUsed) throw new Error('The keeper could not leave a used cgroup', { cause: this.#trouble })
    this.#endTurn = () => {}
  }

  #turnIsOver(): Promise<void> {
    return new Promise((resolve) => {
      const unused = setImmediate(() => this.#endTurn?.())
      this.#endTurn = () => {
        clearImmediate(unused)
        this.#endTurn = null
        resolve()
      }
    })
  }

  /** Moves to an unused leaf, else to the original cgroup, else stays. */
  async #moveOn(): Promise<void> {
    for (let tries = 0; tries < TRIES; tries++) {
      const next = await (this.#next ?? this.#makeNext())
      this.#next = null
      if (next === null || !(await this.#enter(next))) continue
      if (!this.#isLeaving) this.#next = this.#makeNext()
      return
    }
    await this.#goBack()
  }

  async #makeNext(): Promise<NextLeaf | null> {
    const path = join(this.#base, `${this.#names}-${++this.#made}`)
    try {
      await mkdir(path, { recursive: true })
      return { path, members: await open(join(path, 'cgroup.procs'), 'r+') }
    } catch (error) {
      this.#trouble = error
      return null
    }
  }

  /** Asynchronous, because the write blocks: for several milliseconds if the last move was long ago. */
  async #enter({ path, members }: NextLeaf): Promise<boolean> {
    try {
      await members.write('0')
    } catch (error) {
      this.#trouble = error
      return false
    } finally {
      members.close().catch((error: unknown) => {
        this.#trouble = error
      })
    }
    this.#standIn(path)
    return true
  }

  async #goBack(): Promise<boolean> {
    try {
      await writeFile(join(this.#origin, 'cgroup.procs'), '0', { flag: 'r+' })
    } catch (error) {
      this.#trouble = error
      return false
    }
    this.#standIn(null)
    return true
  }

  #standIn(group: string | null): void {
    const from = this.#leaf
    this.#leaf = group
    this.#isUsed = false
    this.#events.moved(from, group)
  }
}

interface NextLeaf {
  readonly path: string
  readonly members: FileHandle
}

/** 0 is a process of another PID namespace, which the keeper did not fork. */
function isAlone(leaf: string): boolean {
  return cgroupMembers(leaf).every((osPid) => osPid === process.pid || osPid === 0)
}
