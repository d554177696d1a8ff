/** The defaults of `KernelOptions`. */
export const KERNEL_DEFAULTS = {
  /** A holder renews its row every `renewMs`; without that it expires after `ttlMs`. Dead holders are looked for every `sweepMs`. */
  times: { renewMs: 10_000, ttlMs: 30_000, sweepMs: 10_000 },
  /** Between two attempts at a process whose holder was lost. */
  backoff: { baseMs: 1_000, maxMs: 60_000 },
  /** How many processes run at once, commands not counted. */
  concurrency: 1_000,
} as const
