import { withAncestors } from '../../os/ancestors.ts'
import { bootId } from '../../os/boot.ts'
import { isOver, type ProcStat, statOf } from '../../os/stat.ts'
import { markerOf } from '../protocol/home.ts'
import type { ProgramIdentity } from '../protocol/messages.ts'
import { cgroupMembers, isLeaf } from './cgroup-files.ts'
import { ProcTable } from './proc-table.ts'

/** One living OS process of a program's tree. */
export interface Member {
  readonly osPid: number
  readonly startTime: string
  readonly ppid: number
  readonly name: string
}

export interface MembersOptions {
  /** Found before: who was a member is one for as long as it lives, whatever it does to get out of sight. */
  readonly known?: readonly Member[]
  /** A look that was taken already; else a new one is taken. */
  readonly table?: ProcTable
}

/**
 * Everybody who lives in a program's tree, the program itself included; children before parents.
 *
 * Some are proved to be ours by themselves: the program by its start time, others by the program's cgroup, by the marker
 * in their environment, or because they were found before. Beside them: whoever is in the program's group or session, and
 * whoever descends from one of ours, step by step.
 *
 * The number of a group or session is the PID of who made it, and the system gives that PID to nobody else while anybody
 * is in there. So group and session are the program's own if it still has its PID, be it as a zombie, or if one that is
 * proved by itself is in there. Otherwise they may be a stranger's, and count for nothing.
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
  // Who was born there after the table was read is not in it.
  for (const osPid of inCgroup(program)) add(osPid, table.processes.get(osPid) ?? statOf(osPid) ?? undefined)
  if (marker !== null) for (const osPid of marked(marker, program, table)) add(osPid)
  for (const osPid of inGroupOrSession(program, hasItsPid, found, table)) add(osPid)
  // A map is walked to its end with what is added on the way: this goes all the way down.
  for (const [osPid, stat] of found) {
    for (const child of table.childrenOf(osPid)) if (isNotOlder(table.processes.get(child)!, stat)) add(child)
  }
  return topMostFirst(living(found)).reverse()
}

/** All that carry a marker, and nobody else; parents before children, and then the oldest first. */
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

/** Who inherited the marker cannot be older than the program: most processes are, and need not be asked. */
export function markersSince({ startTime }: ProgramIdentity): number {
  return Number(startTime ?? 0)
}

/** Whether everybody in the program's cgroup may be ended with it, so that the cgroup can be killed as a whole. */
export function isAllOurs(program: ProgramIdentity): boolean {
  const isNever = neverOf(program, withAncestors())
  return inCgroup(program).every((osPid) => {
    const stat = statOf(osPid)
    return stat === null || !isNever(osPid, stat)
  })
}

/**
 * Who is no member whatever speaks for it: the keeper and those above it; one with the program's PID but another start
 * time; and whom the keeper itself forked beside the program. That is another program, or something that the keeper runs
 * for a moment while it stands in a leaf. (Only PID 1 is given the children of others.)
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

/** A path that is no leaf was not made by a keeper, and proves nothing. */
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

/** A child is never older than its parent: else the parent's PID came round again while the table was read. */
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
    // The table was read over a while: its links might even form a circle.
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
