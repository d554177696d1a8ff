import type { Refusal } from '../core/refusal.ts'
import type { FileSet, FilesSource } from '../core/trigger/trigger.ts'

/** Looks at sets of files of this host. */
export interface FileSets {
  /** The set as it is now. A refusal: the folder cannot be read, or too many files match. */
  look(source: FilesSource): Promise<FileSet | Refusal>
  /** Calls `nudge` when something in the folder may have changed. It may miss changes. Returns the function that ends it. */
  watch(folder: string, nudge: () => void): () => void
}
