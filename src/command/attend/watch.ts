import {
  atLatest,
  type FloodLimits,
  heldDueAt,
  matchAtSource,
  type SourceFlood,
} from '../../core/inbox/flood.ts'
import type { WatchState } from '../../core/process/record.ts'
import type { WatchDisabled, WatchMatch } from '../../core/process/watch-event.ts'
import { type WatchSpec, watchName } from '../../verbs/shapes/command-spec.ts'
import type { Gap } from '../output/layout.ts'
import { type Matcher, matcherOf } from '../output/pattern.ts'

/** A finished line of the output, without escape sequences. */
export interface SeenLine {
  readonly offset: number
  /** Where the next line begins. */
  readonly end: number
  readonly text: string
}

/** An event of a watch to be written; offered again until it is. */
export type Said =
  | { readonly type: 'match'; readonly match: Omit<WatchMatch, 'told'> }
  | { readonly type: 'disable_watch'; readonly disabled: WatchDisabled }

/** The limits of one notice. */
const MAX_LINES = 20
const MAX_CHARS = 2_000

/** One watch of one command: examines each finished line once, and decides which matches are reported, and when. */
export class Watch {
  readonly name: string
  /** A plain text, for which bytes can be searched. */
  readonly needle: Buffer | null
  readonly #wanted: string
  readonly #fits: Matcher
  readonly #limits: FloodLimits
  #source: SourceFlood
  #scannedTo: number
  /** The lines held back since the last report: where the first begins, where the last ends, and the first ones themselves. */
  #held: { readonly offset: number; readonly end: number; readonly lines: readonly SeenLine[] } | null = null
  #missed: Gap | null = null
  #gapToldAt: number | null = null

  constructor(spec: WatchSpec, state: WatchState | undefined, limits: FloodLimits) {
    const { text, pattern } = spec
    this.name = watchName(spec)
    this.#wanted = text ?? pattern ?? ''
    this.needle = text === undefined ? null : Buffer.from(text)
    this.#fits = matcherOf(text === undefined ? { pattern: pattern ?? '' } : { text })
    this.#limits = limits
    this.#scannedTo = state?.scannedTo ?? 0
    const { toldAt = null, strikes = 0, disabled = false } = state ?? {}
    this.#source = { toldAt, held: 0, strikes, disabled }
  }

  get disabled(): boolean {
    return this.#source.disabled
  }

  /** How many lines are held back and not reported yet. */
  get held(): number {
    return this.disabled ? 0 : this.#source.held
  }

  /** The bytes that it has missed and not reported yet. */
  get missed(): Gap | null {
    return this.#missed
  }

  /**
   * The next daemon has to scan again from here: lines that are held back, and gaps that are not reported, are not on record.
   */
  get safeTo(): number {
    return Math.min(this.#scannedTo, this.#held?.offset ?? Infinity, this.#missed?.from ?? Infinity)
  }

  /** The output up to here cannot be scanned. */
  givesUp(to: number): void {
    if (this.disabled || to <= this.#scannedTo) return
    this.#misses({ from: this.#scannedTo, to })
    this.#scannedTo = to
  }

  /** The last report could not be written. */
  couldNotTell({ offset, end, missed }: Omit<WatchMatch, 'told'>): void {
    this.#misses({ from: missed?.from ?? offset, to: end })
  }

  #misses({ from, to }: Gap): void {
    this.#missed = {
      from: Math.min(from, this.#missed?.from ?? from),
      to: Math.max(to, this.#missed?.to ?? to),
    }
  }

  /** Lines were dropped before they could be scanned. Rate-limited like matches, but does not delay them. */
  meetsGap(gap: Gap, at: number): Said | null {
    if (this.disabled || gap.to <= this.#scannedTo) return null
    this.#misses({ from: Math.max(gap.from, this.#scannedTo), to: gap.to })
    this.#scannedTo = gap.to
    const missed = this.#missed
    const sinceGap = this.#gapToldAt === null ? Number.POSITIVE_INFINITY : Math.abs(at - this.#gapToldAt)
    if (missed === null || sinceGap < this.#limits.everyMs) return null
    this.#gapToldAt = at
    this.#missed = null
    const about = { watch: this.name, wanted: this.#wanted, offset: missed.from, end: gap.to, missed }
    return {
      type: 'match',
      match: { ...about, lines: [], more: 0, heldBack: 0, strikes: this.#source.strikes },
    }
  }

  /** `end`: behind the last of these lines, whether any matches or not. */
  sees(lines: readonly SeenLine[], end: number, at: number): Said | null {
    const fresh = lines.filter(({ offset }) => offset >= this.#scannedTo)
    this.#scannedTo = Math.max(this.#scannedTo, end)
    if (this.disabled) return null
    const found = fresh.filter(({ text }) => this.#fits(text))
    const [first] = found
    if (first === undefined) return null
    return this.#tell(found, { offset: first.offset, end: found.at(-1)?.end ?? end }, at)
  }

  #tell(
    found: readonly SeenLine[],
    { offset, end }: { readonly offset: number; readonly end: number },
    at: number,
  ): Said | null {
    const { source, verdict, heldBack } = matchAtSource(this.#source, found.length, at, this.#limits)
    this.#source = source
    const about = { watch: this.name, wanted: this.#wanted, end }
    if (verdict === 'disable') {
      this.#held = null
      return { type: 'disable_watch', disabled: { ...about, heldBack } }
    }
    if (verdict === 'hold') {
      const lines = [...(this.#held?.lines ?? []), ...found].slice(0, MAX_LINES)
      this.#held = { offset: this.#held?.offset ?? offset, end, lines }
      return null
    }
    const { lines, more } = excerptOf(found)
    const match = { ...about, offset, lines, more, heldBack, missed: this.#missed, strikes: source.strikes }
    this.#held = null
    this.#missed = null
    return { type: 'match', match }
  }

  /** When the held lines are to be reported, at the latest; null if there are none. */
  heldDueAt(at: number): number | null {
    this.#source = atLatest(this.#source, at)
    return heldDueAt(this.#source, this.#limits)
  }

  /** The held lines, if they are due: the next line may never come. */
  tellsHeld(at: number): Said | null {
    const due = this.heldDueAt(at)
    const held = this.#held
    if (held === null || due === null || at < due) return null
    const { held: count, strikes } = this.#source
    this.#source = { ...this.#source, toldAt: at, held: 0 }
    const { lines } = excerptOf(held.lines)
    const about = { watch: this.name, wanted: this.#wanted, offset: held.offset, end: held.end }
    const match = { ...about, lines, more: count - lines.length, heldBack: 0, missed: this.#missed, strikes }
    this.#held = null
    this.#missed = null
    return { type: 'match', match }
  }
}

/** The first lines that fit into a notice, at least a part of one. */
function excerptOf(found: readonly SeenLine[]): { readonly lines: readonly string[]; readonly more: number } {
  const lines: string[] = []
  let left = MAX_CHARS
  for (const { text } of found) {
    if (lines.length === MAX_LINES || left <= 0) break
    const shown = text.slice(0, left).toWellFormed()
    lines.push(shown)
    left -= shown.length + 1
  }
  return { lines, more: found.length - lines.length }
}
