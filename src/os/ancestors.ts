import { statOf } from './stat.ts'

/** An OS process, by default this one, and its ancestors. */
export function withAncestors(osPid: number = process.pid): ReadonlySet<number> {
  const line = new Set<number>([osPid])
  const parentOf = (one: number) => (one === process.pid ? process.ppid : (statOf(one)?.ppid ?? 0))
  for (let above = parentOf(osPid); above > 0 && !line.has(above); above = parentOf(above)) line.add(above)
  return line
}
