import { readFileSync } from 'node:fs'
import { codeOf } from '../error-text.ts'

/** What `/proc/<osPid>/stat` says of one OS process. */
export interface ProcStat {
  /** One letter: R, S, D, T (stopped), t (traced), Z (zombie), X. */
  readonly state: string
  readonly ppid: number
  readonly group: number
  readonly session: number
  /** In clock ticks since boot: together with the boot id and the PID it names one OS process for ever. */
  readonly startTime: string
  readonly name: string
  readonly threads: number
}

/** Null where there is no such OS process. A zombie has one still. */
export function statOf(osPid: number): ProcStat | null {
  const text = readProc(`/proc/${osPid}/stat`)
  return text === null ? null : parseStat(text)
}

/** The name may hold spaces and brackets, so the fields are counted from behind the last bracket. */
export function parseStat(text: string): ProcStat {
  const fields = fieldsOf(text)
  return {
    state: fields[0]!,
    ppid: Number(fields[1]),
    group: Number(fields[2]),
    session: Number(fields[3]),
    startTime: fields[19]!,
    name: text.slice(text.indexOf('(') + 1, text.lastIndexOf(')')),
    threads: Number(fields[17]),
  }
}

/** The CPU time that the text of a `stat` accounts for, in clock ticks: its own, and that of the children it has reaped. */
export function cpuTicksOf(text: string | null): number {
  if (text === null) return 0
  const fields = fieldsOf(text)
  return Number(fields[11]) + Number(fields[12]) + Number(fields[13]) + Number(fields[14])
}

/** A zombie is over, unless it is only the first thread that has ended, and others still run. */
export function isOver(stat: ProcStat): boolean {
  return (stat.state === 'Z' || stat.state === 'X') && stat.threads <= 1
}

/** The text of a file below /proc. Null where its process is gone; a process that ends while it is read says ESRCH. */
export function readProc(path: string): string | null {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (isGone(error)) return null
    throw error
  }
}

/** What may not be read belongs to another user, and could not be signalled either: there it counts as not there. */
export function whereReadable<T>(read: () => T, otherwise: T): T {
  try {
    return read()
  } catch (error) {
    if (isGone(error) || isForbidden(error)) return otherwise
    throw error
  }
}

export function isGone(error: unknown): boolean {
  const code = codeOf(error)
  return code === 'ENOENT' || code === 'ESRCH'
}

export function isForbidden(error: unknown): boolean {
  const code = codeOf(error)
  return code === 'EACCES' || code === 'EPERM'
}

function fieldsOf(text: string): string[] {
  return text.slice(text.lastIndexOf(')') + 2).split(' ')
}
