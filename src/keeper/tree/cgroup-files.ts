import { readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { codeOf } from '../../base/error-text.ts'
import { withAncestors } from '../../os/ancestors.ts'
import { isForbidden, isGone } from '../../os/proc-files.ts'
import { isLeaf } from '../../os/program-marks.ts'
import { signalExact } from '../../os/signal.ts'
import { statOf } from '../../os/stat.ts'

/** The members of a group and the groups below it. Empty if it is gone. */
export function cgroupMembers(path: string): number[] {
  const own = readCgroup(join(path, 'cgroup.procs'))
  if (own === null) return []
  const members = own.split('\n').filter(Boolean).map(Number)
  return members.concat(...groupsBelow(path).map(cgroupMembers))
}

/** Kills everything in a leaf, but never this program or its ancestors. False if the leaf was empty. */
export function killCgroup(path: string): boolean {
  if (!isLeaf(path)) throw new Error(`${path} is not a cgroup that a keeper made: nothing in it was ended`)
  const line = withAncestors()
  const members = cgroupMembers(path)
  if (members.length === 0) return false
  const isOwn = members.some((osPid) => line.has(osPid))
  if (isOwn || !killAtOnce(path)) for (const osPid of members) if (!line.has(osPid)) killOne(osPid)
  return true
}

/** Removes a group and those below it, as far as they are empty. True when nothing of it is left. */
export function removeCgroup(path: string): boolean {
  if (removeIfEmpty(path)) return true
  for (const below of groupsBelow(path)) removeCgroup(below)
  return removeIfEmpty(path)
}

/** True if the group is gone. False for any failure: it is still there, and can be tried again. */
export function removeIfEmpty(path: string): boolean {
  try {
    rmdirSync(path)
    return true
  } catch (error) {
    return isGone(error)
  }
}

/** The text of a file of a group; null if the group or the file is missing. */
export function readCgroup(file: string): string | null {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if (isGone(error) || hasNoContent(error)) return null
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
    if (isGone(error) || hasNoContent(error)) return []
    throw error
  }
}

function killOne(osPid: number): void {
  const stat = statOf(osPid)
  if (stat === null) return
  try {
    signalExact(osPid, stat.startTime, 'SIGKILL')
  } catch (error) {
    // It runs as another user, and stays a member, which the caller sees.
    if (!isForbidden(error)) throw error
  }
}

/** The group was removed while its file was open; or it has threads alone, whose processes a group above it names. */
function hasNoContent(error: unknown): boolean {
  return codeOf(error) === 'ENODEV' || codeOf(error) === 'EOPNOTSUPP'
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
