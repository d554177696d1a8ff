import type { OutputOf } from '../../verbs/reeve.ts'

/** What a command had used at one moment. */
export interface Look {
  readonly at: number
  readonly usage: OutputOf<'usage'>
}

/** What a command uses now. Null is what is not known: it takes two looks to know how fast something grows. */
export interface Figures {
  /** Of one core: two busy ones are 200. */
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

/** What two looks at one command say of it. Usage never shrinks, unless it was another program's. */
export function figuresOf(earlier: Look | undefined, later: Look): Figures {
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

/** Of all of them together; null where nothing is known of any. */
export function totalOf(figures: readonly Figures[], which: keyof Figures): number | null {
  const known = figures.map((one) => one[which]).filter((value) => value !== null)
  return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0)
}
