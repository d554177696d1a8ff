/** A change of a file by a tool of Reeve. Contents are named by their hashes; null: there is no file. */
export interface FileWrite {
  /** Canonical. */
  readonly path: string
  readonly before: string | null
  readonly after: string | null
  /** The content before is kept, as the blob with its hash. */
  readonly kept?: true
}
