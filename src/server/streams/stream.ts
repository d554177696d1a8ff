/** Something that only grows, and may be read from any offset: the shape that a route makes a durable stream of. */
export interface Stream {
  readonly contentType: string
  /** The offset behind everything there is now, and whether that is all there will ever be. */
  tail(): Promise<{ readonly at: number; readonly closed: boolean }>
  /** What lies from an offset on. Throws what the caller is to be told instead: a gap, a process that is not there. */
  read(from: number, most: 'page' | 'piece'): Promise<Page>
  /** Resolves when there may be more than this page had, or when it is called off. */
  wait(page: Page, signal: AbortSignal): Promise<void>
}

export interface Page {
  /**
   * What it is a page of: a name may stand for another process tomorrow, and its pages are others. Null where what lies between
   * two offsets may be told otherwise the next time, so that nobody keeps it.
   */
  readonly of: string | null
  readonly body: Uint8Array | string
  readonly isEmpty: boolean
  readonly next: number
  /** There was no more when it was read. */
  readonly upToDate: boolean
  /** There will never be more. */
  readonly closed: boolean
  /** The place in the change feed from which on to listen for more; everything before it was looked at. */
  readonly heardUpTo: number
  /** Headers of the answer that carries this page, besides those of every page. */
  readonly headers?: Readonly<Record<string, string>>
}

/** Of JSON each page is an array, as text. Of everything else pages are bytes, one behind the other. */
export function isJson(contentType: string): boolean {
  return contentType === 'application/json'
}

export function isText(contentType: string): boolean {
  return isJson(contentType) || contentType.startsWith('text/')
}
