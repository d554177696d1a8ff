import type { FileWrite } from '../files/file-write.ts'
import type { FileFate, LeftFile } from '../files/plan-undo.ts'
import type { FilesPutBack } from './event.ts'

/** Files that an answer or an event names. The rest is counted. */
export const MAX_NAMED_FATES = 1_000

/** What has become of files. */
export interface FileFates {
  readonly files: FileFate[]
  readonly more: number
  readonly restored: number
  readonly removed: number
  readonly left: number
}

/** `more`: further files that were left, and are not named. */
export function fatesOf(fates: readonly FileFate[], more = 0): FileFates {
  const restored = fates.filter(({ fate }) => fate === 'restored').length
  const removed = fates.filter(({ fate }) => fate === 'removed').length
  const files = fates.toSorted((a, b) => (a.path < b.path ? -1 : 1)).slice(0, MAX_NAMED_FATES)
  const unnamed = fates.length - files.length + more
  return { files, more: unnamed, restored, removed, left: fates.length - restored - removed + more }
}

/** The result of a turn that has put files back, from what it has recorded. */
export function fatesIn(recorded: readonly FilesPutBack[]): FileFates {
  const files = recorded.flatMap((one) => [...one.files.map(putBackFate), ...(one.left ?? []).map(leftFate)])
  return fatesOf(
    files,
    recorded.reduce((sum, { more = 0 }) => sum + more, 0),
  )
}

export function putBackFate({ path, after }: FileWrite): FileFate {
  return { path, fate: after === null ? 'removed' : 'restored' }
}

export function leftFate({ path, why }: LeftFile): FileFate {
  return { path, fate: why }
}
