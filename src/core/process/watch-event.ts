/** Lines that matched a watch. */
export interface WatchMatch {
  readonly watch: string
  readonly wanted: string
  /** Of the first matching line; scanning goes on at `end`. */
  readonly offset: number
  readonly end: number
  readonly lines: readonly string[]
  /** Further matching lines that are not shown. */
  readonly more: number
  /** Matching lines since the last notice that were only counted. */
  readonly heldBack: number
  /** Output that was evicted before it was scanned. */
  readonly missed: { readonly from: number; readonly to: number } | null
  readonly strikes: number
  /** The notice that the scope gets, if there is a scope: a flood of matches is held back. */
  readonly told: 'match' | 'tripped' | 'held'
}

export interface WatchDisabled {
  readonly watch: string
  readonly wanted: string
  readonly end: number
  readonly heldBack: number
}
