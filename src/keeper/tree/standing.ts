import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { cgroupMembers } from './cgroup-files.ts'
import { startTimeOf } from './identity.ts'

/** How often a leaf is made anew where somebody removed it before it was used. */
const TRIES = 5

/**
 * In which cgroup the keeper itself stands, so that a program which it forks is born there.
 *
 * | it stands          | `ready()`                                              | `take()`                          |
 * | alone in a leaf    | the turn goes to the one who waits longest             | that leaf; then it moves on       |
 * | between two leaves | waits                                                  | throws: it is nobody's turn       |
 * | where it came from | tries a leaf again, then gives the turn                | null: no leaf can be had any more |
 * | in a used leaf     | tries again, then rejects: two programs would share it | throws                            |
 *
 * A turn lasts until the event loop goes on: who has not taken by then has lost it.
 */
export class Standing {
  readonly #base: string
  readonly #origin: string
  readonly #names: string
  readonly #foundUsed: (leaf: string) => void
  #made = 0
  /** Null where it came from. */
  #leaf: string | null = null
  #isUsed = false
  #isLeaving = false
  #trouble: unknown
  #moving: Promise<void> = Promise.resolve()
  #turns: Promise<void> = Promise.resolve()
  #endTurn: (() => void) | null = null

  /**
   * Leaves are made below `base`; `origin` is where the keeper stood before. `foundUsed` is told of a leaf into which
   * somebody was born without its being taken, so that nobody else gets it.
   */
  constructor(base: string, origin: string, foundUsed: (leaf: string) => void) {
    this.#base = base
    this.#origin = origin
    this.#foundUsed = foundUsed
    this.#names = `${process.pid}-${startTimeOf(process.pid)}`
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

  /** `left` is called when the keeper stands elsewhere. */
  take(left: () => void): string | null {
    if (this.#endTurn === null) throw new Error('A leaf was taken without ready(), or too late after it')
    this.#endTurn()
    const taken = this.#leaf
    if (taken === null) return null
    this.#isUsed = true
    this.#moving = this.#moveOn().then(() => {
      if (this.#leaf !== taken) left()
    })
    return taken
  }

  /** Back to where it came from. False where that is not to be had any more. */
  async leave(): Promise<boolean> {
    this.#isLeaving = true
    await this.#moving
    return this.#leaf === null || (await this.#goBack())
  }

  async #comeToRest(): Promise<void> {
    await this.#moving
    if (this.#isLeaving) throw new Error('The keeper is leaving its cgroups')
    const untaken = this.#isUsed || this.#leaf === null || isAlone(this.#leaf) ? null : this.#leaf
    if (untaken !== null) this.#isUsed = true
    if (this.#isUsed || this.#leaf === null) this.#moving = this.#moveOn()
    await this.#moving
    if (untaken !== null) this.#foundUsed(untaken)
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
      const leaf = join(this.#base, `${this.#names}-${++this.#made}`)
      try {
        await mkdir(leaf, { recursive: true })
        await moveTo(leaf)
        this.#leaf = leaf
        this.#isUsed = false
        return
      } catch (error) {
        this.#trouble = error
      }
    }
    await this.#goBack()
  }

  async #goBack(): Promise<boolean> {
    try {
      await moveTo(this.#origin)
      this.#leaf = null
      this.#isUsed = false
      return true
    } catch (error) {
      this.#trouble = error
      return false
    }
  }
}

/** 0 stands for one of another PID namespace, which the keeper did not fork. */
function isAlone(leaf: string): boolean {
  return cgroupMembers(leaf).every((osPid) => osPid === process.pid || osPid === 0)
}

/** On a thread of the pool: the system lets the writer wait for several milliseconds. */
async function moveTo(group: string): Promise<void> {
  await writeFile(join(group, 'cgroup.procs'), '0', { flag: 'r+' })
}
