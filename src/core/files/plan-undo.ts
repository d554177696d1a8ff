import type { FileWrite } from './file-write.ts'

/**
 * | `changed_between`  | something else changed it between two writes of the agent        |
 * | `changed_since`    | something else has changed it since the last write of the agent  |
 * | `not_kept`         | the content before is not kept: it was too large, or is gone     |
 * | `unverified`       | a call was interrupted: whether it wrote the file is unknown     |
 * | `link`             | its path leads through a symbolic link now                       |
 * | `denied`           | the rules of the agent do not allow the write, or it is outside of the workspace |
 * | `path_held`        | another agent alone may write it                                 |
 * | `failed`           | the file system refused the write                                |
 */
export const KEPT_REASONS = [
  'changed_between',
  'changed_since',
  'not_kept',
  'unverified',
  'link',
  'denied',
  'path_held',
  'failed',
] as const
/** Why a file is left as it is. */
export type KeptReason = (typeof KEPT_REASONS)[number]

export const FILE_FATES = ['restored', 'removed', ...KEPT_REASONS] as const

/** What has become of a file. */
export interface FileFate {
  readonly path: string
  readonly fate: (typeof FILE_FATES)[number]
}

/** What an undo does with one file, before the disk is looked at. */
export type FileUndo = PutBack | LeftFile

export interface PutBack {
  readonly type: 'put_back'
  readonly path: string
  /** The hash of what the agent wrote last; null: it removed the file. */
  readonly from: string | null
  /** The hash of the content to put back; null: the file is removed. */
  readonly to: string | null
}

export interface LeftFile {
  readonly type: 'left'
  readonly path: string
  readonly why: KeptReason
}

/**
 * How the files that an agent has written become what they were before these writes, which are in the order of their time. A file that
 * something else has changed in between is left: its content is not the agent's alone. `unverified`: paths of interrupted calls.
 */
export function planUndo(
  writes: readonly FileWrite[],
  unverified: readonly string[] = [],
): readonly FileUndo[] {
  const byPath = new Map<string, FileWrite[]>()
  for (const write of writes) {
    const known = byPath.get(write.path)
    if (known === undefined) byPath.set(write.path, [write])
    else known.push(write)
  }
  const unsure = new Set(unverified)
  const planned = [...byPath].flatMap(([path, chain]) => undoOf(path, chain, unsure.has(path)))
  const others = [...unsure].filter((path) => !byPath.has(path))
  const left = others.map((path): LeftFile => ({ type: 'left', path, why: 'unverified' }))
  return [...planned, ...left].toSorted((a, b) => (a.path < b.path ? -1 : 1))
}

function undoOf(path: string, chain: readonly FileWrite[], isUnsure: boolean): readonly FileUndo[] {
  const [first] = chain
  const last = chain.at(-1)
  if (first === undefined || last === undefined) return []
  if (isUnsure) return [{ type: 'left', path, why: 'unverified' }]
  const isWhole = chain.every((write, index) => index === 0 || chain[index - 1]?.after === write.before)
  if (!isWhole) return [{ type: 'left', path, why: 'changed_between' }]
  if (first.before === last.after) return []
  if (first.before !== null && first.kept !== true) return [{ type: 'left', path, why: 'not_kept' }]
  return [{ type: 'put_back', path, from: last.after, to: first.before }]
}
