import { type FileHandle, mkdir, open, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { startTimeOf } from '../../os/identity.ts'
import { cgroupMembers } from './cgroup-files.ts'

/** How often another leaf is tried where one could not be entered. */
const TRIES = 5

/** Where the keeper goes, as it goes. */
export interface KeeperCgroupEvents {
  /** It stands in `to` now, and stood in `from`; null is where it came from. */
  moved(from: string | null, to: string | null): void
  /** Somebody was born into this leaf without its being taken: nobody else gets it. */
  foundUsed(leaf: string): void
}

/**
 * In which cgroup the keeper itself stands, so that a program which it forks is born there.
 *
 * | it stands          | `ready()`                                              | `take()`                          |
 * | alone in a leaf    | the turn goes to the one who waits longest             | that leaf; then it moves on       |
 * | between two leaves | waits                                                  | throws: it is nobody's turn       |
 * | where it came from | tries a leaf again, then gives the turn                | null: no leaf can be had any more |
 * | in a used leaf     | tries again, then rejects: two programs would share it | throws                            |
 *
 * A turn lasts until the event loop goes on: who has not taken by then has lost it. The next leaf is always made in
 * advance, so that to move on is one write.
 */
export class KeeperCgroup {
  readonly #base: string
  readonly #origin: string
  readonly #names: string
  readonly #events: KeeperCgroupEvents
  #made = 0
  /** Null where it came from. */
  #leaf: string | null = null
  #isUsed = false
  #isLeaving = false
  #trouble: unknown
  #next: Promise<NextLeaf | null> | null = null
  #moving: Promise<void> = Promise.resolve()
  #turns: Promise<void> = Promise.resolve()
  #endTurn: (() => void) | null = null

  /** Leaves are made below `base`; `origin` is where the keeper stood before. */
  constructor(base: string, origin: string, events: KeeperCgroupEvents) {
    this.#base = base
    this.#origin = origin
    this.#names = `${process.pid}-${startTimeOf(process.pid)}`
    this.#events = events
  }

  get leaf(): string | null {
    return this.#leaf
  }

  /** Into the first leaf, if one can be had. */
  async enter(): Promise<void> {
    this.#moving = this.#moveOn()
    await this.#moving
  }

  ready(): Promise<void> {
    const granted = this.#turns.then(() => this.#comeToRest())
    this.#turns = granted.then(
      () => this.#turnIsOver(),
      // Told to the one who waited for this turn; the next has a turn of its own.
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

  /** Back to where it came from. False where that is not to be had any more. */
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

  /** Afterwards it stands in an unused leaf, or where it came from, or, if neither can be had, where it stood. */
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

  /** On a thread of the pool: the system lets the writer wait, for several milliseconds where it did so long ago. */
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

/** 0 stands for one of another PID namespace, which the keeper did not fork. */
function isAlone(leaf: string): boolean {
  return cgroupMembers(leaf).every((osPid) => osPid === process.pid || osPid === 0)
}
