/** How long a wait lasts without a `timeoutMs`, and how long it may last. The default is also the daemon's setting `waitMs`. */
export const WAIT_LIMITS = { defaultMs: 180_000, mostMs: 24 * 60 * 60 * 1_000 } as const
