import { ownCgroups } from './own-cgroups.ts'

/** The variable in every program's environment that names its process, so that descendants outside of its group are found. */
export const MARKER = 'REEVE_PROCESS'

/**
 * A leaf: a cgroup that this project made for one program, `…/reeve-<home>/<keeper's PID>-<its start time>-<number>`.
 * No other path is ever killed or removed, even if a file on disk names it.
 */
const LEAF = /^\/(?!.*\/\.\.?\/).*\/reeve-[^/]+\/\d+-\d+-\d+$/
/** A group that a program made within its leaf. */
const BELOW_LEAF = /^\/(?!.*\/\.\.?\/).*\/reeve-[^/]+\/\d+-\d+-\d+\//

export function isLeaf(path: string): boolean {
  return LEAF.test(path)
}

/**
 * Whether this program was started by Reeve, or by such a program. It is a guard against accidents: a program that removes the
 * variable and leaves its cgroup looks like any other of its user.
 */
export function isInsideProgram(
  env: Readonly<Record<string, string | undefined>> = process.env,
  cgroup: string | null = ownCgroups().unified,
): boolean {
  if ((env[MARKER] ?? '') !== '') return true
  return cgroup !== null && (isLeaf(cgroup) || BELOW_LEAF.test(cgroup))
}
