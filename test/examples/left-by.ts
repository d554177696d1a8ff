import { readdirSync, readFileSync } from 'node:fs'

/** OS processes with this TMPDIR: descendants of a program that a test started with it. */
export function leftBy(folder: string): string[] {
  return osPidsWith(folder).map((osPid) => textOf(`/proc/${osPid}/cmdline`).replaceAll('\0', ' '))
}

/** Ends them, for the clean-up after a test that failed. */
export function endLeftBy(folder: string): void {
  for (const osPid of osPidsWith(folder)) {
    try {
      process.kill(Number(osPid), 'SIGKILL')
    } catch {
      // It has just ended.
    }
  }
}

function osPidsWith(folder: string): string[] {
  return readdirSync('/proc').filter(
    (name) => /^\d+$/.test(name) && textOf(`/proc/${name}/environ`).split('\0').includes(`TMPDIR=${folder}`),
  )
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    // It has just ended, or belongs to another user.
    return ''
  }
}
