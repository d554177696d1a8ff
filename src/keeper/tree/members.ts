import type { ProgramIdentity } from '../protocol/messages.ts'
import { bootId } from './boot.ts'
import { cgroupMembers } from './cgroup-files.ts'
import { ProcTable } from './proc-table.ts'
import { isOver, type ProcStat } from './stat.ts'

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
 * Everybody who lives in a program's tree, the program itself included; the deepest first.
 *
 * Some are proved to be ours by themselves: the program by its start time, others by the program's cgroup, by the marker
 * in their environment, or because they were found before. Beside them: whoever is in the program's group or session, and
 * whoever descends from one of ours, step by step.
 *
 * The number of a group or session is the PID of who made it, and the system gives that PID to nobody else while anybody
 * is in there. So group and session are the program's own if it still has its PID, be it as a zombie, or if one that is
 * proved by itself is in there. Otherwise they may be a stranger's, and count for nothing.
 *
 * A process that has the program's PID but another start time is never a member, whatever else speaks for it.
 */
export function membersOf(program: ProgramIdentity, marker: string, options: MembersOptions = {}): Member[] {
  if (program.boot === '' || program.boot !== bootId()) return []
  const table = options.table ?? ProcTable.read()
  const never = new Set(table.ownLine())
  const leader = table.processes.get(program.osPid)
  const isOurs = leader !== undefined && leader.startTime === program.startTime
  if (leader !== undefined && !isOurs) never.add(program.osPid)

  const found = new Set<number>()
  const add = (osPid: number) => {
    if (!never.has(osPid) && !isKeepersOwnChild(osPid, program, table)) found.add(osPid)
  }
  if (isOurs) add(program.osPid)
  for (const osPid of provedByThemselves(program, marker, options.known ?? [], table)) add(osPid)
  for (const osPid of sharingGroupOrSession(program, isOurs, found, table)) add(osPid)
  for (const osPid of found) {
    // A set is walked to its end with what is added on the way, so that this goes all the way down.
    for (const child of table.childrenOf(osPid)) if (isNotOlder(child, osPid, table)) add(child)
  }
  return deepestFirst(living(found, table))
}

/** All that carry a marker, and nothing else; the top-most first. */
export function findByMarker(marker: string, table: ProcTable = ProcTable.read()): Member[] {
  const never = table.ownLine()
  const found = new Set<number>()
  for (const osPid of table.processes.keys()) {
    if (!never.has(osPid) && table.hasMarker(osPid, marker)) found.add(osPid)
  }
  return deepestFirst(living(found, table)).reverse()
}

function* provedByThemselves(
  program: ProgramIdentity,
  marker: string,
  known: readonly Member[],
  table: ProcTable,
): Generator<number> {
  for (const { osPid, startTime } of known) {
    if (table.processes.get(osPid)?.startTime === startTime) yield osPid
  }
  if (program.cgroup !== null) yield* cgroupMembers(program.cgroup)
  const since = Number(program.startTime ?? 0)
  for (const [osPid, stat] of table.processes) {
    // What inherited the marker cannot be older than the program; most processes are, and need not be asked.
    if (Number(stat.startTime) >= since && !isOver(stat) && table.hasMarker(osPid, marker)) yield osPid
  }
}

function* sharingGroupOrSession(
  program: ProgramIdentity,
  leaderIsOurs: boolean,
  proved: ReadonlySet<number>,
  table: ProcTable,
): Generator<number> {
  for (const by of ['group', 'session'] as const) {
    const isInside = (stat: ProcStat | undefined) => stat?.[by] === program.group
    const isOurs = leaderIsOurs || [...proved].some((osPid) => isInside(table.processes.get(osPid)))
    if (!isOurs) continue
    for (const [osPid, stat] of table.processes) if (isInside(stat)) yield osPid
  }
}

/**
 * Whom the keeper forked itself is a program of its own, or something it runs for a moment: such a one may stand in a
 * program's cgroup, but is not of its tree. Only PID 1 is given the children of others.
 */
function isKeepersOwnChild(osPid: number, program: ProgramIdentity, table: ProcTable): boolean {
  return osPid !== program.osPid && process.pid !== 1 && table.processes.get(osPid)?.ppid === process.pid
}

/** Guards against a PID that came round again while the table was read. */
function isNotOlder(child: number, parent: number, table: ProcTable): boolean {
  const [first, second] = [table.processes.get(parent), table.processes.get(child)]
  if (first === undefined || second === undefined) return false
  return Number(second.startTime) >= Number(first.startTime)
}

function living(found: Iterable<number>, table: ProcTable): Member[] {
  const members: Member[] = []
  for (const osPid of found) {
    const stat = table.processes.get(osPid)
    if (stat === undefined || isOver(stat)) continue
    members.push({ osPid, startTime: stat.startTime, ppid: stat.ppid, name: stat.name })
  }
  return members
}

function deepestFirst(members: readonly Member[]): Member[] {
  const parents = new Map(members.map(({ osPid, ppid }) => [osPid, ppid]))
  const depth = (osPid: number): number => {
    let steps = 0
    // A table is read over a moment, so that its links could even form a circle.
    for (let at = parents.get(osPid); at !== undefined && steps <= members.length; at = parents.get(at))
      steps++
    return steps
  }
  const depths = new Map(members.map(({ osPid }) => [osPid, depth(osPid)]))
  return members.toSorted((a, b) => depths.get(b.osPid)! - depths.get(a.osPid)!)
}
