import { BoundedMap } from '../../base/bounded-map.ts'
import type { Masker } from '../../redaction/masker.ts'
import type { CleanRanges } from './clean-ranges.ts'

/** How secrets are kept out of what is read of a log. */
export interface Masking {
  readonly masker: Masker
  /** Its streams are kept apart: what one of them wrote is a text of its own. */
  readonly tagged?: boolean
  /** Nothing more is to come: what could have become a secret is none. */
  readonly final: boolean
  /** Where it need not be looked again. Not for a log that may be written anew. */
  readonly lookedThrough?: CleanRanges
  /** Whether what lies from an offset on, and may be the beginning of a secret, has been held back long enough. */
  readonly mayShow: (folder: string, offset: number, writtenAt: number) => boolean
}

/** A reader hears of it within 250 ms: this long, and until somebody looks again. */
export const HOLD_MS = 200

/**
 * How long the unfinished ends of logs have been held back. What was written long ago goes at once; else it counts from when
 * it was first seen, since a program may write on for ever.
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
