import { readdirSync, readFileSync } from 'node:fs'

/** OS processes with this TMPDIR: descendants of a program that a test started with it. */
export function leftBy(folder: string): string[] {
  return readdirSync('/proc')
    .filter(
      (name) =>
        /^\d+$/.test(name) && textOf(`/proc/${name}/environ`).split('\0').includes(`TMPDIR=${folder}`),
    )
    .map((osPid) => textOf(`/proc/${osPid}/cmdline`).replaceAll('\0', ' '))
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    // It has just ended, or belongs to another user.
    return ''
  }
}
