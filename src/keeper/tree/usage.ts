import { isForbidden, readProc } from '../../os/proc-files.ts'
import { cpuTicksOf } from '../../os/stat.ts'
import type { ProgramIdentity, Usage } from '../protocol/messages.ts'
import { membersOf } from './members.ts'
import type { ProcTable } from './proc-table.ts'

/** Linux counts processes' time in hundredths of a second, whatever its own clock does. */
const MS_PER_TICK = 10

/** Where the system itself keeps count of a tree; see Cgroups. */
export interface TreeCounters {
  cpuMs(path: string): number | null
  peakMemory(path: string): number | null
}

/** What a cgroup has counted; null each where it does not. */
export interface Counted {
  readonly cpuMs: number | null
  readonly peakMemoryBytes: number | null
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
  return withCounted(sampleOf(members.map(({ osPid }) => osPid)), countedOf(program, counters))
}

/** What is seen of some OS processes now, and of the children that they have reaped. */
export function sampleOf(osPids: readonly number[]): Usage {
  const seen = osPids.map(usageOfMember)
  const nothing = seen.length === 0
  const memory = total(seen.map(({ rss }) => rss))
  return {
    cpuMs: nothing ? null : total(seen.map(({ cpuMs }) => cpuMs)),
    // Who has ended and is not yet reaped has none to be seen.
    peakMemoryBytes: Math.max(memory, ...seen.map(({ highest }) => highest)) || null,
    memoryBytes: memory || null,
    readBytes: sumOrNull(seen.map(({ read }) => read)),
    writtenBytes: sumOrNull(seen.map(({ written }) => written)),
    sampled: true,
  }
}

export function countedOf({ cgroup }: ProgramIdentity, counters: TreeCounters | null): Counted {
  if (cgroup === null || counters === null) return { cpuMs: null, peakMemoryBytes: null }
  return { cpuMs: counters.cpuMs(cgroup), peakMemoryBytes: counters.peakMemory(cgroup) }
}

/** What was counted takes the place of what was seen. Exact is only what has nothing of the latter left. */
export function withCounted(seen: Usage | null, { cpuMs, peakMemoryBytes }: Counted): Usage {
  const usage = {
    cpuMs: cpuMs ?? seen?.cpuMs ?? null,
    peakMemoryBytes: peakMemoryBytes ?? seen?.peakMemoryBytes ?? null,
    ...(seen?.memoryBytes === undefined ? {} : { memoryBytes: seen.memoryBytes }),
    readBytes: seen?.readBytes ?? null,
    writtenBytes: seen?.writtenBytes ?? null,
  }
  const isExact =
    cpuMs !== null &&
    usage.peakMemoryBytes === peakMemoryBytes &&
    usage.readBytes === null &&
    usage.writtenBytes === null
  return { ...usage, sampled: !isExact }
}

/** Of two looks at one tree: nothing that was used once is used less later. What is in use now is of one look alone. */
export function joined(earlier: Usage | null, { memoryBytes: _, ...later }: Usage): Usage {
  if (earlier === null) return later
  return {
    cpuMs: larger(earlier.cpuMs, later.cpuMs),
    peakMemoryBytes: larger(earlier.peakMemoryBytes, later.peakMemoryBytes),
    readBytes: larger(earlier.readBytes, later.readBytes),
    writtenBytes: larger(earlier.writtenBytes, later.writtenBytes),
    sampled: earlier.sampled || later.sampled,
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

function usageOfMember(osPid: number): MemberUsage {
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
