import { withAncestors } from '../../os/ancestors.ts'
import { bootId } from '../../os/boot.ts'
import { isLeaf } from '../../os/program-marks.ts'
import { isOver, type ProcStat, statOf } from '../../os/stat.ts'
import { markerOf } from '../protocol/data-folder-paths.ts'
import type { ProgramIdentity } from '../protocol/program-state.ts'
import { cgroupMembers } from './cgroup-files.ts'
import { ProcTable } from './proc-table.ts'

/** One living OS process of a program's tree. */
export interface Member {
  readonly osPid: number
  readonly startTime: string
  readonly ppid: number
  readonly name: string
}

export interface MembersOptions {
  /** Members found before: a member stays one for as long as it lives, even if it hides. */
  readonly known?: readonly Member[]
  /** A scan to use; else a new one is made. */
  readonly table?: ProcTable
}

/**
 * The living processes of a program's tree, including the program itself; children before parents.
 *
 * Some are proved members by themselves: the program by its start time, others by the program's cgroup, by the marker in their
 * environment, or because they were found before. Also members: all processes in the program's group or session, and all
 * descendants of members.
 *
 * The number of a group or session is the PID of its creator, and the system does not reuse that PID while the group or session
 * has members. So both are the program's own if the program still has its PID, even as a zombie, or if a proved member is in
 * them. Otherwise they may belong to another program, and prove nothing.
 */
export function membersOf(
  program: ProgramIdentity,
  marker: string | null,
  options: MembersOptions = {},
): Member[] {
  if (program.boot === '' || program.boot !== bootId()) return []
  const table = options.table ?? ProcTable.read(markersSince(program))
  const leader = table.processes.get(program.osPid)
  const hasItsPid = leader !== undefined && leader.startTime === program.startTime

  const found = new Map<number, ProcStat>()
  const isNever = neverOf(program, table.selfAndAncestors)
  const add = (osPid: number, stat = table.processes.get(osPid)) => {
    if (stat !== undefined && !isNever(osPid, stat)) found.set(osPid, stat)
  }
  if (hasItsPid) add(program.osPid)
  for (const { osPid, startTime } of options.known ?? []) {
    if (table.processes.get(osPid)?.startTime === startTime) add(osPid)
  }
  // Processes that started there after the scan are not in the table.
  for (const osPid of inCgroup(program)) add(osPid, table.processes.get(osPid) ?? statOf(osPid) ?? undefined)
  if (marker !== null) for (const osPid of marked(marker, program, table)) add(osPid)
  for (const osPid of inGroupOrSession(program, hasItsPid, found, table)) add(osPid)
  // Iterating a map includes entries that are added on the way: this reaches all descendants.
  for (const [osPid, stat] of found) {
    for (const child of table.childrenOf(osPid)) if (isNotOlder(table.processes.get(child)!, stat)) add(child)
  }
  return topMostFirst(living(found)).reverse()
}

/** Exactly the processes with a marker; parents before children, then the oldest first. */
export function findByMarker(marker: string, table: ProcTable = ProcTable.read(0)): Member[] {
  const found = new Map<number, ProcStat>()
  for (const [osPid, stat] of table.processes) {
    if (!isOver(stat) && !table.selfAndAncestors.has(osPid) && table.hasMarker(osPid, marker))
      found.set(osPid, stat)
  }
  return topMostFirst(living(found))
}

/** The pids of a home whose marker a living OS process carries. */
export function markedPids(homeId: string, table: ProcTable): ReadonlySet<string> {
  const ending = markerOf(homeId, '')
  const pids = new Set<string>()
  for (const [osPid, stat] of table.processes) {
    if (isOver(stat) || table.selfAndAncestors.has(osPid)) continue
    for (const marker of table.markersOf(osPid))
      if (marker.endsWith(ending)) pids.add(marker.slice(0, -ending.length))
  }
  return pids
}

/** A process that inherited the marker is not older than the program; most are, and are skipped. */
export function markersSince({ startTime }: ProgramIdentity): number {
  return Number(startTime ?? 0)
}

/** Whether all processes in the program's cgroup may be ended with it, so that the cgroup can be killed as a whole. */
export function isAllOurs(program: ProgramIdentity): boolean {
  const isNever = neverOf(program, withAncestors())
  return inCgroup(program).every((osPid) => {
    const stat = statOf(osPid)
    return stat === null || !isNever(osPid, stat)
  })
}

/**
 * Processes that are never members: the keeper and its ancestors; one with the program's PID but another start time; and other
 * children of the keeper, which are other programs, or helpers that ran while the keeper was in a leaf. (Only PID 1 adopts
 * children of others.)
 */
function neverOf(
  program: ProgramIdentity,
  line: ReadonlySet<number>,
): (osPid: number, stat: ProcStat) => boolean {
  return (osPid, stat) => {
    if (line.has(osPid)) return true
    if (osPid === program.osPid) return stat.startTime !== program.startTime
    return stat.ppid === process.pid && process.pid !== 1
  }
}

/** A path that is not a leaf was not made by a keeper, and proves nothing. */
function inCgroup({ cgroup }: ProgramIdentity): number[] {
  return cgroup !== null && isLeaf(cgroup) ? cgroupMembers(cgroup) : []
}

function* marked(marker: string, program: ProgramIdentity, table: ProcTable): Generator<number> {
  const since = markersSince(program)
  for (const [osPid, stat] of table.processes) {
    if (Number(stat.startTime) >= since && !isOver(stat) && table.hasMarker(osPid, marker)) yield osPid
  }
}

function* inGroupOrSession(
  program: ProgramIdentity,
  hasItsPid: boolean,
  proved: ReadonlyMap<number, ProcStat>,
  table: ProcTable,
): Generator<number> {
  for (const by of ['group', 'session'] as const) {
    const isOurs = hasItsPid || [...proved.values()].some((stat) => stat[by] === program.group)
    if (!isOurs) continue
    for (const [osPid, stat] of table.processes) if (stat[by] === program.group) yield osPid
  }
}

/** A child is never older than its parent: else the parent's PID was reused during the scan. */
function isNotOlder(child: ProcStat, parent: ProcStat): boolean {
  return Number(child.startTime) >= Number(parent.startTime)
}

function living(found: ReadonlyMap<number, ProcStat>): Member[] {
  const members: Member[] = []
  for (const [osPid, stat] of found) {
    const { startTime, ppid, name } = stat
    if (!isOver(stat)) members.push({ osPid, startTime, ppid, name })
  }
  return members
}

function topMostFirst(members: readonly Member[]): Member[] {
  const parents = new Map(members.map(({ osPid, ppid }) => [osPid, ppid]))
  const depthOf = ({ osPid }: Member): number => {
    let depth = 0
    // The scan took a while: its links might even form a cycle.
    for (let at = parents.get(osPid); at !== undefined && depth <= members.length; at = parents.get(at))
      depth++
    return depth
  }
  const depths = new Map(members.map((member) => [member, depthOf(member)]))
  return members.toSorted(
    (a, b) =>
      depths.get(a)! - depths.get(b)! || Number(a.startTime) - Number(b.startTime) || a.osPid - b.osPid,
  )
}
