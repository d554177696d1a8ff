/** Facts about an OS process from /proc. An ended process has no memory and no CPU time, and is not alive. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'

/** A zombie is not alive. */
export function isAlive(osPid: number): boolean {
  const stat = textOf(`/proc/${osPid}/stat`)
  const state = stat.slice(stat.lastIndexOf(')') + 2).charAt(0)
  return state !== '' && state !== 'Z' && state !== 'X'
}

export const rssBytes = (osPid: number) => kilobytes(`/proc/${osPid}/status`, 'VmRSS')
export const peakRssBytes = (osPid: number) => kilobytes(`/proc/${osPid}/status`, 'VmHWM')
/** The proportional set size: pages that several programs share, such as Node's code, count in part. */
export const pssBytes = (osPid: number) => kilobytes(`/proc/${osPid}/smaps_rollup`, 'Pss')

/** Resets the peak to the current usage. */
export function resetPeakRss(osPid: number): void {
  writeFileSync(`/proc/${osPid}/clear_refs`, '5')
}

/** Over all of its threads, to the nanosecond: clock ticks of 10 ms are too coarse for something that idles. */
export function cpuMs(osPid: number): number {
  return readdirSync(`/proc/${osPid}/task`)
    .map((task) => Number(textOf(`/proc/${osPid}/task/${task}/schedstat`).split(' ')[0] ?? 0))
    .reduce((all, nanoseconds) => all + nanoseconds / 1e6, 0)
}

export function childrenOf(osPid: number): number[] {
  return textOf(`/proc/${osPid}/task/${osPid}/children`).split(' ').filter(Boolean).map(Number)
}

function kilobytes(file: string, name: string): number {
  const found = new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(textOf(file))
  return Number(found?.[1] ?? 0) * 1_024
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim()
  } catch {
    // It has ended.
    return ''
  }
}
