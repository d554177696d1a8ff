import { statOf } from '../../os/stat.ts'

/** This program and those above it: never part of a tree that it ends, whatever speaks for it. */
export function ownLine(): ReadonlySet<number> {
  const line = new Set<number>([process.pid])
  for (let above = process.ppid; above > 0 && !line.has(above); above = statOf(above)?.ppid ?? 0)
    line.add(above)
  return line
}
