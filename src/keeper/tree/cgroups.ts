import { mkdirSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { isAlive } from '../../os/identity.ts'
import { ownCgroups } from '../../os/own-cgroups.ts'
import {
  cgroupMembers,
  groupsBelow,
  isLeaf,
  readCgroup,
  removeCgroup,
  removeIfEmpty,
} from './cgroup-files.ts'
import { KeeperCgroup } from './keeper-cgroup.ts'
import { KeeperUsage } from './keeper-usage.ts'
import { LeafRemoval } from './leaf-removal.ts'
import { type LeafMemory, limitMemory, memoryKills, peakMemory, removeMemoryGroup } from './memory-group.ts'

/**
 * The cgroups of one keeper: a leaf for each program, in which its whole tree is found, whatever it does.
 *
 * To move a process from one to another takes the system several milliseconds. So no program is ever moved: the keeper
 * itself stands in a leaf that nobody uses, whom it forks is born there, and then it moves on to another, in the
 * background. What the keeper itself uses while it stands in a leaf is not counted as the program's.
 */
export class Cgroups {
  readonly #base: string
  readonly #baseV1: string | null
  readonly #countsMemory: boolean
  readonly #standing: KeeperCgroup
  readonly #removal = new LeafRemoval((path) => this.#removeNow(path))
  readonly #keepers = new KeeperUsage()

  /** Null where there is no cgroup v2, or none that this user may divide. */
  static async open(homeId: string): Promise<Cgroups | null> {
    const own = ownCgroups()
    if (own.unified === null) return null
    const name = `reeve-${homeId}`
    const base = join(outside(own.unified, name), name)
    if (!isLeaf(join(base, '1-1-1'))) throw new Error(`${homeId} cannot be part of a cgroup's name`)
    if (!canMake(base)) return null
    const cgroups = new Cgroups(base, own.unified, own.memoryV1 && join(outside(own.memoryV1, name), name))
    await cgroups.#standing.enter()
    if (cgroups.#standing.leaf === null) {
      removeIfEmpty(base)
      return null
    }
    cgroups.#removeLeavesOfTheDead()
    return cgroups
  }

  private constructor(base: string, origin: string, baseV1: string | null) {
    this.#base = base
    this.#baseV1 = baseV1
    this.#countsMemory = sharesMemoryController(base)
    this.#standing = new KeeperCgroup(base, origin, {
      moved: (from, to) => this.#keepers.moved(from, to),
      foundUsed: (leaf) => this.remove(leaf),
    })
  }

  /**
   * Resolves when the keeper stands in a leaf that nobody uses: for one caller at a time, who then forks at once. It is to
   * be waited for before every fork of a program, also of one that is to have no leaf and so takes none, since it would be
   * born among another's. Rejects when the keeper cannot leave a leaf that is used: then no program may be forked.
   */
  ready(): Promise<void> {
    return this.#standing.ready()
  }

  /**
   * The leaf into which the next fork is born. Right after `ready()`, and directly before that fork. Null when no leaf can
   * be had any more: then the program is not in a cgroup of its own.
   */
  take(): string | null {
    const leaf = this.#standing.take()
    if (leaf !== null && this.#countsMemory) this.#keepers.taken(leaf)
    return leaf
  }

  /** The fork failed: nobody was born there. */
  giveBack(path: string): void {
    this.remove(path)
  }

  /** Also those in groups below it, but never the keeper. */
  members(path: string): number[] {
    return cgroupMembers(path).filter((osPid) => osPid !== process.pid)
  }

  /** Null where it is gone, or where the share of the keeper that took it is not known. */
  cpuMs(path: string): number | null {
    const us = this.#keepers.cpuUsWithout(path)
    return us === null ? null : Math.round(us / 1000)
  }

  /** Right after the fork. False where the system cannot limit it. */
  limitMemory(path: string, osPid: number, bytes: number): boolean {
    return limitMemory(this.#memoryOf(path), osPid, bytes)
  }

  /** Null where the system does not count it. */
  peakMemory(path: string): number | null {
    return peakMemory(this.#memoryOf(path))
  }

  /** How many of its processes the system has killed for want of memory. */
  memoryKills(path: string): number {
    return memoryKills(this.#memoryOf(path))
  }

  /** Now, or as soon as it is empty; then `gone` is called. */
  remove(path: string, gone: () => void = () => {}): void {
    if (!isLeaf(path)) throw new Error(`${path} is not a cgroup that a keeper made: it was not removed`)
    this.#removal.remove(path, gone)
  }

  /** The keeper goes back to where it stood. Leaves that are in use stay. */
  async close(): Promise<void> {
    await this.#standing.leave()
    this.#removal.close()
    for (const leaf of this.#leaves()) if (keeperOf(leaf).osPid === process.pid) this.#removeNow(leaf)
    // Again: one that died just before this keeper came may have been in its leaf still.
    this.#removeLeavesOfTheDead()
    removeIfEmpty(this.#base)
  }

  #removeLeavesOfTheDead(): void {
    for (const leaf of this.#leaves()) {
      const { osPid, startTime } = keeperOf(leaf)
      if (!isAlive(osPid, startTime) && cgroupMembers(leaf).length === 0) this.#removeNow(leaf)
    }
  }

  /** In either hierarchy, by their path in the first. */
  #leaves(): string[] {
    const paths = new Set(groupsBelow(this.#base))
    if (this.#baseV1 !== null) {
      for (const group of groupsBelow(this.#baseV1)) paths.add(join(this.#base, basename(group)))
    }
    return [...paths].filter(isLeaf)
  }

  #removeNow(path: string): boolean {
    const { groupV1 } = this.#memoryOf(path)
    const withoutMemory = groupV1 === null || removeMemoryGroup(groupV1)
    if (!removeCgroup(path) || !withoutMemory) return false
    this.#keepers.forget(path)
    // A keeper that was started elsewhere had its leaves elsewhere.
    if (dirname(path) !== this.#base) removeIfEmpty(dirname(path))
    return true
  }

  #memoryOf(leaf: string): LeafMemory {
    return {
      leaf,
      groupV1: this.#baseV1 === null ? null : join(this.#baseV1, basename(leaf)),
      keepersBytes: this.#keepers.memoryBytes(leaf),
    }
  }
}

/** A keeper that is started from within one of its home's own leaves must not make its own below that. */
function outside(group: string, name: string): string {
  const parts = group.split('/')
  const at = parts.indexOf(name)
  return at === -1 ? group : parts.slice(0, at).join('/')
}

function canMake(base: string): boolean {
  try {
    mkdirSync(base, { recursive: true })
    return true
  } catch {
    // Whatever the reason (rights, a read-only mount, a limit): there are no cgroups for us here, and trees are marked.
    return false
  }
}

/** Gives the leaves the memory controller, where those above have shared it with us. False: they have none. */
function sharesMemoryController(base: string): boolean {
  if (readCgroup(join(base, 'cgroup.controllers'))?.split(/\s/).includes('memory') !== true) return false
  try {
    writeFileSync(join(base, 'cgroup.subtree_control'), '+memory', { flag: 'r+' })
    return true
  } catch {
    // Whatever the reason, memory is then limited in another way, or by looking.
    return false
  }
}

function keeperOf(leaf: string): { osPid: number; startTime: string } {
  const [osPid, startTime] = basename(leaf).split('-')
  return { osPid: Number(osPid), startTime: startTime ?? '' }
}
