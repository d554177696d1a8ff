import { BoundedMap } from '../../base/bounded-map.ts'
import type { Masker } from '../../redaction/masker.ts'
import type { CleanRanges } from './clean-ranges.ts'

/** How secrets are masked for a reader of a log. */
export interface Masking {
  readonly masker: Masker
  /** The log is tagged: each stream is a text of its own. */
  readonly tagged?: boolean
  /** The log is complete: an unfinished secret at its end is none. */
  readonly final: boolean
  /** The ranges that need no second scan. Missing for a log that may be rewritten. */
  readonly cleanRanges?: CleanRanges
  /** Whether the bytes from an offset on, which may begin a secret, have been held back long enough. */
  readonly mayShow: (folder: string, offset: number, writtenAt: number) => boolean
}

/** With the interval of a follower's checks, a reader sees the bytes within 250 ms. */
export const HOLD_MS = 200

/**
 * How long the unfinished ends of logs have been held back. Bytes that were written long ago are shown at once; otherwise the time
 * counts from when they were first seen, because a program may write on for ever.
 */
export class HeldBack {
  readonly #now: () => number
  readonly #seen = new BoundedMap<string, { readonly offset: number; readonly at: number }>(MAX_LOGS)

  constructor(now: () => number) {
    this.#now = now
  }

  readonly mayShow: Masking['mayShow'] = (folder, offset, writtenAt) => {
    const now = this.#now()
    if (now - writtenAt >= HOLD_MS) return true
    const seen = this.#seen.get(folder)
    if (seen?.offset === offset) return now - seen.at >= HOLD_MS
    this.#seen.set(folder, { offset, at: now })
    return false
  }
}

const MAX_LOGS = 10_000
