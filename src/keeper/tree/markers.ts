import { readFileSync } from 'node:fs'
import { whereReadable } from '../../os/proc-files.ts'
import { MARKER } from '../../os/program-marks.ts'
import { isOver, type ProcStat, statOf } from '../../os/stat.ts'

/** A try takes some microseconds; an exec takes fewer. */
const TRIES = 50

/** A program that replaces itself twice in a row may be read without an environment at both times, but not three times. */
const EMPTY_READS = 3

/**
 * The markers in the environment of an OS process. During an exec or exit the environment cannot be read for a moment: `unreadable`
 * if that moment did not pass, `ended` if the process is over.
 */
export function markersOf(osPid: number, stat: ProcStat): readonly string[] | 'unreadable' | 'ended' {
  if (isKernelThread(stat)) return []
  let empty = 0
  for (let tries = 0; tries < TRIES; tries++) {
    const environ = read(osPid, 'environ')
    if (environ.length > 0) return markersIn(environ)
    // In that moment it has no arguments either. With arguments, the environment is really empty.
    if (read(osPid, 'cmdline').length > 0 && ++empty === EMPTY_READS) return []
    const now = whereReadable(() => statOf(osPid), null)
    if (now === null || isOver(now)) return 'ended'
  }
  return 'unreadable'
}

/** The values of the marker among variables that end with NUL. */
export function markersIn(environ: Buffer): readonly string[] {
  const prefix = `${MARKER}=`
  if (!environ.includes(prefix)) return []
  const variables = environ.toString('utf8').split('\0')
  return variables.filter((text) => text.startsWith(prefix)).map((text) => text.slice(prefix.length))
}

function isKernelThread({ ppid, group }: ProcStat): boolean {
  return group === 0 && (ppid === 2 || ppid === 0)
}

function read(osPid: number, file: string): Buffer {
  return whereReadable(() => readFileSync(`/proc/${osPid}/${file}`), Buffer.alloc(0))
}
