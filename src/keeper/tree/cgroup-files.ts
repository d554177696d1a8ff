import { readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { signalExact } from './signal-exact.ts'
import { codeOf, isGone, statOf } from './stat.ts'

/**
 * A leaf: a cgroup that this project made for one program, `…/reeve-<home>/<keeper's PID>-<its start time>-<number>`.
 * Nothing else is ever killed or removed by its path, whatever a file on disk may say.
 */
const LEAF = /^\/(?!.*\/\.\.?\/).*\/reeve-[^/]+\/\d+-\d+-\d+$/

export function isLeaf(path: string): boolean {
  return LEAF.test(path)
}

/** Who is in a group and in the groups below it. Nobody where it is gone. */
export function cgroupMembers(path: string): number[] {
  const own = readCgroup(join(path, 'cgroup.procs'))
  if (own === null) return []
  const members = own.split('\n').filter(Boolean).map(Number)
  return members.concat(...groupsBelow(path).map(cgroupMembers))
}

/** Forces everything in a leaf to end. Never used while this program is in it. */
export function killCgroup(path: string): void {
  if (!isLeaf(path)) throw new Error(`${path} is not a cgroup that a keeper made: nothing in it was ended`)
  const members = cgroupMembers(path)
  if (members.length === 0) return
  if (!members.includes(process.pid) && !members.includes(process.ppid) && killAtOnce(path)) return
  for (const osPid of members) {
    const stat = statOf(osPid)
    if (stat !== null && osPid !== process.pid && osPid !== process.ppid) {
      signalExact(osPid, stat.startTime, 'SIGKILL')
    }
  }
}

/** Removes a group and those below it, as far as they are empty. True when nothing of it is left. */
export function removeCgroup(path: string): boolean {
  for (const below of groupsBelow(path)) removeCgroup(below)
  return removeIfEmpty(path)
}

/** True when it is gone. */
export function removeIfEmpty(path: string): boolean {
  try {
    rmdirSync(path)
    return true
  } catch (error) {
    if (isGone(error)) return true
    if (codeOf(error) === 'EBUSY' || codeOf(error) === 'ENOTEMPTY') return false
    throw error
  }
}

/** The text of one of a group's files; null where group or file are not there. */
export function readCgroup(file: string): string | null {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    // ENODEV: the group was removed while its file was open.
    if (isGone(error) || codeOf(error) === 'ENODEV') return null
    throw error
  }
}

/** One number of a file of `key number` lines, such as cpu.stat. */
export function numberIn(text: string, key: string): number | null {
  for (const line of text.split('\n')) {
    if (line.startsWith(`${key} `)) return Number(line.slice(key.length + 1))
  }
  return null
}

export function groupsBelow(path: string): string[] {
  try {
    return readdirSync(path, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map((entry) => join(path, entry.name))
  } catch (error) {
    if (isGone(error) || codeOf(error) === 'ENODEV') return []
    throw error
  }
}

/** Older kernels have no such file. */
function killAtOnce(path: string): boolean {
  try {
    writeFileSync(join(path, 'cgroup.kill'), '1', { flag: 'r+' })
    return true
  } catch (error) {
    if (isGone(error) || codeOf(error) === 'EOPNOTSUPP') return false
    throw error
  }
}
