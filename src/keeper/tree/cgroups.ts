import { mkdirSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { ExponentialBackoff } from '../../base/exponential-backoff.ts'
import { isAlive } from '../../os/identity.ts'
import { ownCgroups } from '../../os/own-cgroups.ts'
import { isLeaf } from '../../os/program-marks.ts'
import { cgroupMembers, groupsBelow, readCgroup, removeCgroup, removeIfEmpty } from './cgroup-files.ts'
import { KeeperCgroup } from './keeper-cgroup.ts'
import { KeeperUsage } from './keeper-usage.ts'
import { type LeafMemory, limitMemory, memoryKills, peakMemory, removeMemoryGroup } from './memory-group.ts'

/**
 * The cgroups of one keeper: a leaf for each program, in which its whole tree is found, even after a change of session or parent.
 *
 * Moving a process between cgroups takes several milliseconds. So no program is ever moved: the keeper itself is in an unused leaf,
 * its fork starts there, and then the keeper moves on to another leaf in the background. The keeper's own usage in a leaf is
 * not counted as the program's.
 */
export class Cgroups {
  readonly #base: string
  readonly #baseV1: string | null
  readonly #countsMemory: boolean
  readonly #standing: KeeperCgroup
  readonly #removal = new LeafRemoval((path) => this.#removeNow(path))
  readonly #keepers = new KeeperUsage()

  /** Null without cgroup v2, or without one that this user may divide. */
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
   * Resolves when the keeper is in an unused leaf, for one caller at a time, which then forks at once. Every fork of a program
   * waits for it, even of one that takes no leaf, because it would start in another program's leaf. Rejects when the keeper
   * cannot leave a used leaf: then no program may be forked.
   */
  ready(): Promise<void> {
    return this.#standing.ready()
  }

  /**
   * The leaf in which the next fork starts. Called right after `ready()`, and directly before that fork. Null if no leaf is
   * available any more: then the program has no cgroup of its own.
   */
  take(): string | null {
    const leaf = this.#standing.take()
    if (leaf !== null && this.#countsMemory) this.#keepers.taken(leaf)
    return leaf
  }

  /** The fork failed: the leaf is still unused. */
  giveBack(path: string): void {
    this.remove(path)
  }

  /** Includes the members of groups below it, but never the keeper. */
  members(path: string): number[] {
    return cgroupMembers(path).filter((osPid) => osPid !== process.pid)
  }

  /** Null if the leaf is gone, or the keeper's own share of it is not known. */
  cpuMs(path: string): number | null {
    const us = this.#keepers.cpuUsWithout(path)
    return us === null ? null : Math.round(us / 1000)
  }

  /** Called right after the fork. False if the system cannot limit it. */
  limitMemory(path: string, osPid: number, bytes: number): boolean {
    return limitMemory(this.#memoryOf(path), osPid, bytes)
  }

  /** Null if the system does not count it. */
  peakMemory(path: string): number | null {
    return peakMemory(this.#memoryOf(path))
  }

  /** How many of its processes the OOM killer has ended. */
  memoryKills(path: string): number {
    return memoryKills(this.#memoryOf(path))
  }

  /** Removes the leaf, now or as soon as it is empty; then `gone` is called. */
  remove(path: string, gone: () => void = () => {}): void {
    if (!isLeaf(path)) throw new Error(`${path} is not a cgroup that a keeper made: it was not removed`)
    this.#removal.remove(path, gone)
  }

  /** The keeper moves back to its original cgroup. Leaves that are in use stay. */
  async close(): Promise<void> {
    await this.#standing.leave()
    this.#removal.close()
    for (const leaf of this.#leaves()) if (keeperOf(leaf).osPid === process.pid) this.#removeNow(leaf)
    // Again: a process that died just before this keeper started may still have been in its leaf.
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
    // For any reason (rights, a read-only mount, a limit) there are no cgroups here: trees are found by marker.
    return false
  }
}

/** Enables the memory controller for the leaves, if the parent groups delegate it. False: they do not. */
function sharesMemoryController(base: string): boolean {
  if (readCgroup(join(base, 'cgroup.controllers'))?.split(/\s/).includes('memory') !== true) return false
  try {
    writeFileSync(join(base, 'cgroup.subtree_control'), '+memory', { flag: 'r+' })
    return true
  } catch {
    // For any reason: memory is then limited in another way, or by polling.
    return false
  }
}

function keeperOf(leaf: string): { osPid: number; startTime: string } {
  const [osPid, startTime] = basename(leaf).split('-')
  return { osPid: Number(osPid), startTime: startTime ?? '' }
}

/** A leaf is busy while descendants of its program live: its removal is retried with backoff. */
const FIRST_RETRY_MS = 20
const MAX_RETRY_MS = 60_000

/** More are not remembered; the next keeper removes those that are empty then. */
const MAX_BUSY = 4096

/** Removes leaves, later if they are busy. `attempt` returns true when nothing is left. */
class LeafRemoval {
  readonly #attempt: (path: string) => boolean
  readonly #busy = new Map<string, () => void>()
  readonly #backoff = new ExponentialBackoff(FIRST_RETRY_MS, MAX_RETRY_MS)
  #timer: NodeJS.Timeout | undefined

  constructor(attempt: (path: string) => boolean) {
    this.#attempt = attempt
  }

  /** `gone` is called after the removal, if the leaf is remembered; it replaces the callback of an earlier call. */
  remove(path: string, gone: () => void): void {
    if (this.#attempt(path)) {
      this.#busy.delete(path)
      gone()
      return
    }
    if (this.#busy.size >= MAX_BUSY) return
    this.#busy.set(path, gone)
    this.#backoff.reset()
    this.#schedule()
  }

  /** Tries all once more, now, and then stops. */
  close(): void {
    this.#sweep()
    clearTimeout(this.#timer)
    this.#busy.clear()
  }

  #schedule(): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => {
      this.#sweep()
      if (this.#busy.size === 0) return
      this.#schedule()
    }, this.#backoff.nextMs())
    this.#timer.unref()
  }

  #sweep(): void {
    for (const [path, gone] of this.#busy) {
      if (!this.#attempt(path)) continue
      this.#busy.delete(path)
      gone()
    }
  }
}
