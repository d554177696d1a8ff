import type { OutputOf } from '../../verbs/reeve.ts'

/** The resource use of a command at one moment. */
export interface Sample {
  readonly at: number
  readonly usage: OutputOf<'usage'>
}

/** The current resource use of a command. Null is unknown: a rate needs two samples. */
export interface Figures {
  /** Relative to one core: two busy cores are 200. */
  readonly cpuPercent: number | null
  readonly memoryBytes: number | null
  readonly outputBytes: number | null
  readonly outputPerSecond: number | null
}

export const UNKNOWN: Figures = {
  cpuPercent: null,
  memoryBytes: null,
  outputBytes: null,
  outputPerSecond: null,
}

/** The figures from two samples of one command. Usage never shrinks, unless a sample was of another program. */
export function figuresOf(earlier: Sample | undefined, later: Sample): Figures {
  const { usage } = later
  const passedMs = earlier === undefined ? 0 : later.at - earlier.at
  const perMs = (before: number | null | undefined, after: number | null) =>
    before == null || after === null || passedMs <= 0 ? null : Math.max(0, after - before) / passedMs
  const cpu = perMs(earlier?.usage.cpuMs, usage.cpuMs)
  const output = perMs(earlier?.usage.outputBytes, usage.outputBytes)
  return {
    cpuPercent: cpu === null ? null : cpu * 100,
    memoryBytes: usage.memoryBytes,
    outputBytes: usage.outputBytes,
    outputPerSecond: output === null ? null : output * 1_000,
  }
}

/** The sum of one figure; null if it is unknown for all. */
export function totalOf(figures: readonly Figures[], which: keyof Figures): number | null {
  const known = figures.map((one) => one[which]).filter((value) => value !== null)
  return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0)
}
