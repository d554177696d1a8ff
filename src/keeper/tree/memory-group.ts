import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { codeOf } from '../../base/error-text.ts'
import { isGone } from '../../os/proc-files.ts'
import { cgroupMembers, numberIn, readCgroup, removeCgroup, removeIfEmpty } from './cgroup-files.ts'

/** Rounds of moves: processes that start during one are moved in the next; a new tree is small. */
const MOVE_ROUNDS = 5

/** Where the memory of one leaf is counted. */
export interface LeafMemory {
  readonly leaf: string
  /** Its group in the v1 hierarchy, which is made only for leaves with a limit. */
  readonly groupV1: string | null
  /** The keeper's own usage in the leaf before it was taken. */
  readonly keepersBytes: number
}

/**
 * Limits the memory of a leaf: by the leaf itself where it has the controller, else by a group of the same name in the
 * v1 hierarchy, into which its members are moved. False if neither is available.
 */
export function limitMemory(
  { leaf, groupV1, keepersBytes }: LeafMemory,
  osPid: number,
  bytes: number,
): boolean {
  try {
    if (existsSync(join(leaf, 'memory.max'))) {
      set(leaf, 'memory.max', bytes + keepersBytes)
      setIfThere(leaf, 'memory.swap.max', 0)
      return true
    }
    if (groupV1 === null) return false
    mkdirSync(groupV1, { recursive: true })
    set(groupV1, 'memory.limit_in_bytes', bytes)
    setIfThere(groupV1, 'memory.memsw.limit_in_bytes', bytes)
    moveAll(leaf, groupV1, osPid)
    return true
  } catch (error) {
    if (!cannotBeHad(error)) throw error
    if (groupV1 !== null) removeMemoryGroup(groupV1)
    return false
  }
}

/** In bytes, with the page cache that is charged to it. */
export function peakMemory({ leaf, groupV1, keepersBytes }: LeafMemory): number | null {
  const v2 = readCgroup(join(leaf, 'memory.peak'))
  if (v2 !== null) return Math.max(0, Number(v2) - keepersBytes)
  const v1 = groupV1 === null ? null : readCgroup(join(groupV1, 'memory.max_usage_in_bytes'))
  return v1 === null ? null : Number(v1)
}

/** How many of its processes the OOM killer has ended. */
export function memoryKills({ leaf, groupV1 }: LeafMemory): number {
  const v2 = readCgroup(join(leaf, 'memory.events'))
  if (v2 !== null) return numberIn(v2, 'oom_kill') ?? 0
  const v1 = groupV1 === null ? null : readCgroup(join(groupV1, 'memory.oom_control'))
  return v1 === null ? 0 : (numberIn(v1, 'oom_kill') ?? 0)
}

/** True when nothing of it is left. */
export function removeMemoryGroup(groupV1: string): boolean {
  if (!removeCgroup(groupV1)) return false
  removeIfEmpty(dirname(groupV1))
  return true
}

function moveAll(leaf: string, groupV1: string, osPid: number): void {
  move(groupV1, osPid)
  for (let round = 0; round < MOVE_ROUNDS; round++) {
    const moved = new Set(cgroupMembers(groupV1))
    const left = cgroupMembers(leaf).filter((member) => member !== process.pid && !moved.has(member))
    if (left.length === 0) return
    for (const member of left) move(groupV1, member)
  }
}

function move(group: string, osPid: number): void {
  try {
    set(group, 'cgroup.procs', osPid)
  } catch (error) {
    // It has ended in the meantime.
    if (!isGone(error)) throw error
  }
}

function set(group: string, file: string, value: number): void {
  writeFileSync(join(group, file), String(value), { flag: 'r+' })
}

function setIfThere(group: string, file: string, value: number): void {
  if (existsSync(join(group, file))) set(group, file, value)
}

function cannotBeHad(error: unknown): boolean {
  return ['EACCES', 'EPERM', 'EROFS', 'ENOENT', 'EBUSY', 'EINVAL', 'EOPNOTSUPP'].includes(codeOf(error) ?? '')
}
