import { isForbidden, readProc } from '../../os/proc-files.ts'
import { cpuTicksOf } from '../../os/stat.ts'
import type { ProgramIdentity, Usage } from '../protocol/program-state.ts'
import { membersOf } from './members.ts'
import type { ProcTable } from './proc-table.ts'

/** Linux reports process time in hundredths of a second, independent of the kernel's own tick. */
const MS_PER_TICK = 10

/** The system's own counters of a tree; see Cgroups. */
export interface TreeCounters {
  cpuMs(path: string): number | null
  peakMemory(path: string): number | null
}

/** The counters of a cgroup; null for those it does not have. */
export interface Counted {
  readonly cpuMs: number | null
  readonly peakMemoryBytes: number | null
}

/**
 * The usage of a program's tree so far: exact where a cgroup counts it, otherwise summed over the living processes. The peak is a
 * lower bound: the current sum, or the highest peak of one member.
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

/** The usage of some OS processes now, and of the children that they have reaped. */
export function sampleOf(osPids: readonly number[]): Usage {
  const seen = osPids.map(usageOfMember)
  const nothing = seen.length === 0
  const memory = total(seen.map(({ rss }) => rss))
  return {
    cpuMs: nothing ? null : total(seen.map(({ cpuMs }) => cpuMs)),
    // A zombie has no memory to read.
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

/** Counters replace samples. The result is exact only if no sample is left in it. */
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

/** Merges two samples of one tree: usage never shrinks. The memory in use is that of one sample alone. */
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

/** The memory in use by the whole tree. Shared pages count once for each process. */
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

/** Readable only for processes of the same user. */
function ioOf(osPid: number): string | null {
  try {
    return readProc(`/proc/${osPid}/io`)
  } catch (error) {
    if (isForbidden(error)) return null
    throw error
  }
}

/** `VmRSS:     1234 kB`; a process that is exiting has none. */
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
