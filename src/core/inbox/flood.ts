import type { Pid } from '../process/pid.ts'

/** Limits for notices of watch matches to a scope. No other notice is ever held back. */
export interface FloodLimits {
  /** Per watch of one process: at most one notice in this time. */
  readonly everyMs: number
  /** After so many windows in a row with held-back matches the watch is disabled. */
  readonly strikes: number
  /** Over all sources: so many in `burstMs`, and then none for `silenceMs`. */
  readonly burst: number
  readonly burstMs: number
  readonly silenceMs: number
}

export const FLOOD_LIMITS: FloodLimits = {
  everyMs: 15_000,
  strikes: 3,
  burst: 15,
  burstMs: 10_000,
  silenceMs: 30_000,
}

/** One source: one watch of one process. */
export interface SourceFlood {
  readonly toldAt: number | null
  /** Matches held back since then. */
  readonly held: number
  /** Windows in a row with held-back matches, this one included. */
  readonly strikes: number
  readonly disabled: boolean
}

export const QUIET_SOURCE: SourceFlood = { toldAt: null, held: 0, strikes: 0, disabled: false }

/**
 * A window begins when a match is reported, and lasts `everyMs`.
 *
 * | the source is         | a match comes                                                               | the window is over           |
 * | quiet, or window over | told, with the number held back before; a window without any clears the strikes | –                          |
 * | within a window       | held; the first one in it is a strike, and the last strike disables           | held matches are told, if any |
 * | disabled              | held, for ever                                                                | –                            |
 */
export function matchAtSource(
  source: SourceFlood,
  lines: number,
  at: number,
  { everyMs, strikes: most }: FloodLimits,
): {
  readonly source: SourceFlood
  readonly verdict: 'tell' | 'hold' | 'disable'
  readonly heldBack: number
} {
  const { toldAt, held, strikes, disabled } = atLatest(source, at)
  if (disabled) return { source: { ...source, held: held + lines }, verdict: 'hold', heldBack: 0 }
  if (toldAt === null || at - toldAt >= everyMs) {
    const told = { toldAt: at, held: 0, strikes: held === 0 ? 0 : strikes, disabled }
    return { source: told, verdict: 'tell', heldBack: held }
  }
  const struck = held === 0 ? strikes + 1 : strikes
  const kept = { toldAt, held: held + lines, strikes: struck, disabled: struck >= most }
  return { source: kept, verdict: kept.disabled ? 'disable' : 'hold', heldBack: kept.held }
}

/** A clock that was set back must not prolong a window: the window then begins now. */
export function atLatest(source: SourceFlood, at: number): SourceFlood {
  return source.toldAt === null || source.toldAt <= at ? source : { ...source, toldAt: at }
}

/** When held-back matches are reported by themselves, if no other match comes; null if none are held back. */
export function heldDueAt({ toldAt, held, disabled }: SourceFlood, { everyMs }: FloodLimits): number | null {
  return disabled || held === 0 || toldAt === null ? null : toldAt + everyMs
}

/** All sources of one scope together. */
export interface Overflow {
  /** When the last matches were reported; at most `burst` of them. */
  readonly recent: readonly number[]
  readonly tripped: Tripped | null
}

interface Tripped {
  /** The event that tripped it. */
  readonly pid: Pid
  readonly seq: number
  readonly at: number
  readonly until: number
  /** Matches that were not reported, the one that tripped it included. */
  readonly held: number
}

export const NO_OVERFLOW: Overflow = { recent: [], tripped: null }

/**
 * Decides about matches that their source would report. The caller has released due matches before (`isReleaseDue`).
 *
 * | the scope is | a match comes                                                   | the silence is over        |
 * | open         | told; one more than `burst` in `burstMs` trips it, and is told so | –                          |
 * | tripped      | held, and counted                                               | released, with the count |
 */
export function matchOverAll(
  overflow: Overflow,
  by: { readonly pid: Pid; readonly seq: number },
  at: number,
  { burst, burstMs, silenceMs }: FloodLimits,
): { readonly overflow: Overflow; readonly told: 'match' | 'tripped' | 'held' } {
  const { tripped } = overflow
  if (tripped !== null)
    return { overflow: { ...overflow, tripped: { ...tripped, held: tripped.held + 1 } }, told: 'held' }
  // A clock that was set back leaves times in the future behind.
  const recent = overflow.recent.filter((time) => Math.abs(at - time) < burstMs)
  if (recent.length < burst) return { overflow: { recent: [...recent, at], tripped: null }, told: 'match' }
  return {
    overflow: { recent: [], tripped: { ...by, at, until: at + silenceMs, held: 1 } },
    told: 'tripped',
  }
}

/** Also due if the clock was set back by more than the silence lasts: otherwise the silence would last that much longer. */
export function isReleaseDue({ tripped }: Overflow, at: number): boolean {
  if (tripped === null) return false
  return at >= tripped.until || tripped.at - at > tripped.until - tripped.at
}
