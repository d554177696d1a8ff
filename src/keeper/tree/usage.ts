import type { ProgramIdentity, Usage } from '../protocol/messages.ts'
import { type Member, membersOf } from './members.ts'
import type { ProcTable } from './proc-table.ts'
import { cpuTicksOf, isForbidden, readProc } from './stat.ts'

/** Linux counts processes' time in hundredths of a second, whatever its own clock does. */
const MS_PER_TICK = 10

/** Where the system itself keeps count of a tree; see Cgroups. */
export interface TreeCounters {
  cpuMs(path: string): number | null
  peakMemory(path: string): number | null
}

/**
 * What a program's tree has used so far: exactly, as far as a cgroup counts it, and otherwise as seen in those who live
 * now. The peak is what was certainly reached: all of the tree together now, or one member at its highest.
 */
export function usageOf(
  program: ProgramIdentity,
  marker: string | null = null,
  counters: TreeCounters | null = null,
  table?: ProcTable,
): Usage {
  const members = membersOf(program, marker, table === undefined ? {} : { table })
  const seen = members.map(usageOfMember)
  const exactCpu = program.cgroup === null ? null : (counters?.cpuMs(program.cgroup) ?? null)
  const exactPeak = program.cgroup === null ? null : (counters?.peakMemory(program.cgroup) ?? null)
  const nothing = seen.length === 0
  return {
    cpuMs: exactCpu ?? (nothing ? null : total(seen.map(({ cpuMs }) => cpuMs))),
    peakMemoryBytes:
      exactPeak ??
      (nothing ? null : Math.max(total(seen.map(({ rss }) => rss)), ...seen.map(({ highest }) => highest))),
    readBytes: sumOrNull(seen.map(({ read }) => read)),
    writtenBytes: sumOrNull(seen.map(({ written }) => written)),
    sampled: exactCpu === null,
  }
}

/** Of two looks at one tree: nothing that was used once is used less later. */
export function joined(earlier: Usage | null, later: Usage): Usage {
  if (earlier === null) return later
  return {
    cpuMs: larger(earlier.cpuMs, later.cpuMs),
    peakMemoryBytes: larger(earlier.peakMemoryBytes, later.peakMemoryBytes),
    readBytes: larger(earlier.readBytes, later.readBytes),
    writtenBytes: larger(earlier.writtenBytes, later.writtenBytes),
    sampled: later.sampled,
  }
}

/** The memory that the whole tree has in use now. Pages that several share are counted once for each. */
export function memoryOf(program: ProgramIdentity, marker: string | null, table?: ProcTable): number {
  const members = membersOf(program, marker, table === undefined ? {} : { table })
  return total(members.map(({ osPid }) => memoryIn(statusOf(osPid), 'VmRSS')))
}

interface MemberUsage {
  readonly cpuMs: number
  readonly rss: number
  readonly highest: number
  readonly read: number | null
  readonly written: number | null
}

function usageOfMember({ osPid }: Member): MemberUsage {
  const status = statusOf(osPid)
  const io = ioOf(osPid)
  return {
    cpuMs: cpuTicksOf(readProc(`/proc/${osPid}/stat`)) * MS_PER_TICK,
    rss: memoryIn(status, 'VmRSS'),
    highest: memoryIn(status, 'VmHWM'),
    read: numberAfter(io, 'read_bytes'),
    written: numberAfter(io, 'write_bytes'),
  }
}

function statusOf(osPid: number): string | null {
  return readProc(`/proc/${osPid}/status`)
}

/** Only one's own processes tell. */
function ioOf(osPid: number): string | null {
  try {
    return readProc(`/proc/${osPid}/io`)
  } catch (error) {
    if (isForbidden(error)) return null
    throw error
  }
}

/** `VmRSS:     1234 kB`; one that is just ending has none. */
function memoryIn(status: string | null, key: string): number {
  return (numberAfter(status, key) ?? 0) * 1024
}

function numberAfter(text: string | null, key: string): number | null {
  const found = text === null ? null : new RegExp(`^${key}:\\s*(\\d+)`, 'm').exec(text)
  return found === null ? null : Number(found[1])
}

function sumOrNull(numbers: readonly (number | null)[]): number | null {
  const known = numbers.filter((number) => number !== null)
  return known.length === 0 ? null : total(known)
}

function total(numbers: readonly number[]): number {
  return numbers.reduce((sum, number) => sum + number, 0)
}

function larger(a: number | null, b: number | null): number | null {
  if (a === null || b === null) return a ?? b
  return Math.max(a, b)
}
