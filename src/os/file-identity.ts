import { statSync, unlinkSync } from 'node:fs'

/** Which file a path named at one moment. The same path may name the file of another program later. */
export interface FileIdentity {
  readonly device: bigint
  readonly inode: bigint
  /** Inodes are reused: the creation time distinguishes two files. */
  readonly createdAtNs: bigint
}

/** Null if there is no file. */
export function fileAt(path: string): FileIdentity | null {
  const stat = statSync(path, { bigint: true, throwIfNoEntry: false })
  return stat === undefined ? null : { device: stat.dev, inode: stat.ino, createdAtNs: stat.birthtimeNs }
}

export function isFileAt(path: string, file: FileIdentity | null): boolean {
  const there = fileAt(path)
  if (there === null || file === null) return false
  return there.device === file.device && there.inode === file.inode && there.createdAtNs === file.createdAtNs
}

/** Removes the file if the path still names it, and leaves the file of any other program alone. */
export function removeOwnFile(path: string, file: FileIdentity | null): void {
  if (isFileAt(path, file)) unlinkSync(path)
}
