import { readFileSync } from 'node:fs'

/** Whether this program's group is the one that its terminal listens to: a job in the background must leave it alone. */
export function isInForeground(): boolean {
  try {
    const stat = readFileSync('/proc/self/stat', 'utf8')
    const [, , group, , , foreground] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return group === foreground
  } catch {
    // Not a system that says: then a terminal is taken for ours.
    return true
  }
}
