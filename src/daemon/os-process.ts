import { readFileSync } from 'node:fs'

/** Field 22 of `/proc/<pid>/stat`, without which a PID says nothing: they are used again. Null if there is no such process. */
export function startTimeOf(osPid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${osPid}/stat`, 'utf8')
    // The program's name before it may contain spaces and brackets.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    const isZombie = fields[0] === 'Z' || fields[0] === 'X'
    return isZombie ? null : (fields[19] ?? null)
  } catch {
    return null
  }
}

export function isAlive({ osPid, startTime }: { osPid: number; startTime: string | null }): boolean {
  return startTime !== null && startTimeOf(osPid) === startTime
}
