/** Append-only content that can be read from any offset. A route serves it as a durable stream. */
export interface Stream {
  readonly contentType: string
  /** The end now, and whether the stream is closed. */
  tail(): Promise<{ readonly at: number; readonly closed: boolean }>
  /** The content from an offset on. Throws an error for the caller: a gap, or an unknown process. */
  read(from: number, most: 'page' | 'piece'): Promise<Page>
  /** Resolves when there may be more content after this page, or when it is aborted. */
  wait(page: Page, signal: AbortSignal): Promise<void>
}

export interface Page {
  /**
   * The source of the page, for its ETag: a name may refer to another process tomorrow, with other pages. Null if the content
   * between two offsets may change, so that no reader caches it.
   */
  readonly of: string | null
  readonly body: Uint8Array | string
  readonly isEmpty: boolean
  readonly next: number
  /** There was no more content when it was read. */
  readonly upToDate: boolean
  /** There will never be more content. */
  readonly closed: boolean
  /** The position of the change feed after which to listen for more. Everything before it was read. */
  readonly heardUpTo: number
  /** Headers of the answer that carries this page, besides those of every page. */
  readonly headers?: Readonly<Record<string, string>>
}

/** A page of JSON is an array, as text. Other pages are bytes that are concatenated. */
export function isJson(contentType: string): boolean {
  return contentType === 'application/json'
}

export function isText(contentType: string): boolean {
  return isJson(contentType) || contentType.startsWith('text/')
}
