import type { FileSet } from './trigger.ts'

export interface ChangedFiles {
  readonly added: readonly string[]
  readonly modified: readonly string[]
  readonly removed: readonly string[]
}

/** The paths that differ between two sets, each list in order. */
export function changedFiles(before: FileSet, after: FileSet): ChangedFiles {
  const paths = Object.keys(after.files).sort()
  const isIn = ({ files }: FileSet, path: string) => Object.hasOwn(files, path)
  return {
    added: paths.filter((path) => !isIn(before, path)),
    modified: paths.filter((path) => isIn(before, path) && before.files[path] !== after.files[path]),
    removed: Object.keys(before.files)
      .filter((path) => !isIn(after, path))
      .sort(),
  }
}
