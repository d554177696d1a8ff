import {
  atLatest,
  type FloodLimits,
  heldDueAt,
  matchAtSource,
  type SourceFlood,
} from '../../core/inbox/flood.ts'
import type { WatchDisabled, WatchMatch } from '../../core/process/event.ts'
import type { WatchState } from '../../core/process/record.ts'
import { type WatchSpec, watchName } from '../../verbs/shapes/command-spec.ts'
import type { Gap } from '../output/layout.ts'
import { type Matcher, matcherOf } from '../output/pattern.ts'

/** A finished line of the output, without escape sequences. */
export interface SeenLine {
  readonly offset: number
  /** Where the next one begins. */
  readonly end: number
  readonly text: string
}

/** What is to be written of a watch; it is told again until it is. */
export type Said =
  | { readonly type: 'match'; readonly match: Omit<WatchMatch, 'told'> }
  | { readonly type: 'disable_watch'; readonly disabled: WatchDisabled }

/** As much as one notice carries. */
const MAX_LINES = 20
const MAX_CHARS = 2_000

/** One watch of one command: looks at finished lines, each once, and says what of it is to be told, and when. */
export class Watch {
  readonly name: string
  /** A plain text, which can be looked for among bytes. */
  readonly needle: Buffer | null
  readonly #wanted: string
  readonly #fits: Matcher
  readonly #limits: FloodLimits
  #source: SourceFlood
  #scannedTo: number
  /** What was held back since something was told: where the first line begins, the last one ends, and the first ones themselves. */
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

  /** Lines that were held back, and are told of by nothing yet. */
  get held(): number {
    return this.disabled ? 0 : this.#source.held
  }

  /** Between which bytes it has missed something that it has not told of yet. */
  get missed(): Gap | null {
    return this.#missed
  }

  /**
   * From here on lines have to be looked at again by whoever comes after: those held back are counted, and not on record,
   * and no more is a gap that was not told.
   */
  get safeTo(): number {
    return Math.min(this.#scannedTo, this.#held?.offset ?? Infinity, this.#missed?.from ?? Infinity)
  }

  /** The rest, up to here, cannot be looked at. */
  givesUp(to: number): void {
    if (this.disabled || to <= this.#scannedTo) return
    this.#misses({ from: this.#scannedTo, to })
    this.#scannedTo = to
  }

  /** What it said could not be written. */
  couldNotTell({ offset, end, missed }: Omit<WatchMatch, 'told'>): void {
    this.#misses({ from: missed?.from ?? offset, to: end })
  }

  #misses({ from, to }: Gap): void {
    this.#missed = {
      from: Math.min(from, this.#missed?.from ?? from),
      to: Math.max(to, this.#missed?.to ?? to),
    }
  }

  /** Lines that were not kept long enough to be looked at. It is said as seldom as a match, and keeps none from being told. */
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

  /** `end`: behind the last of these lines, whether any fits or not. */
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

  /** When what it holds back is to be told, if nothing comes before; null if it holds nothing back. */
  heldDueAt(at: number): number | null {
    this.#source = atLatest(this.#source, at)
    return heldDueAt(this.#source, this.#limits)
  }

  /** What it holds back, if it is time: nobody should wait for a next line that may never come. */
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

/** The first lines that fit in a notice, at least a part of one. */
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
