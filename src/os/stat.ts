import { readProc } from './proc-files.ts'

/** The fields of `/proc/<osPid>/stat` that Reeve uses. */
export interface ProcStat {
  /** One letter: R, S, D, T (stopped), t (traced), Z (zombie), X. */
  readonly state: string
  readonly ppid: number
  readonly group: number
  readonly session: number
  /** In clock ticks since boot. Boot id, PID and start time together identify one OS process for ever. */
  readonly startTime: string
  readonly name: string
  readonly threads: number
}

/** Null where there is no such OS process. A zombie still has one. Throws where the system hides other users' processes. */
export function statOf(osPid: number): ProcStat | null {
  const text = readProc(`/proc/${osPid}/stat`)
  return text === null ? null : parseStat(text)
}

/** The name may contain spaces and brackets, so fields are counted from the last bracket on. */
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

/** Whether an OS process is in the foreground group of its terminal. Null where that cannot be read. */
export function isInForegroundGroup(osPid: number): boolean | null {
  const text = readProc(`/proc/${osPid}/stat`)
  if (text === null) return null
  const [, , group, , , foreground] = fieldsOf(text)
  return group === foreground
}

/** The one rule for zombies: a zombie has ended, unless only its first thread has ended and others still run. */
export function isOver(stat: ProcStat): boolean {
  return (stat.state === 'Z' || stat.state === 'X') && stat.threads <= 1
}

function fieldsOf(text: string): string[] {
  return text.slice(text.lastIndexOf(')') + 2).split(' ')
}
