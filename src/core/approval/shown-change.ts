/** What a call would make of a file, as the file was when the call asked. */
export interface ShownChange {
  /** Absolute. */
  readonly path: string
  /** Null: there is no file yet. Absent: the asker has not seen the file as it is, and so the request tells nothing about it. */
  readonly before?: FileFacts | null
  readonly after: FileFacts
  /** The lines that change; null if they cannot be shown. */
  readonly diff: string | null
  /** The diff is not the whole change. */
  readonly isCut: boolean
}

interface FileFacts {
  readonly bytes: number
  /** SHA-256. */
  readonly hash: string
}
