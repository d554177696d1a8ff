import { readdirSync, readFileSync } from 'node:fs'

/** How many descriptors an OS process may have open at once, and how many it has. */
export interface Descriptors {
  readonly limit: number
  readonly open: number
}

/**
 * Descriptors that are kept free in daemon and keeper, so that what runs can be looked at and ended when there are no more for
 * what is to be started: looks at /proc, files that record an end, connections of those who ask.
 */
export const RESERVED_DESCRIPTORS = 48

/** Null where the system does not say, or does not say it to this user. */
export function descriptorLimitOf(osPid: number | 'self'): number | null {
  try {
    const [, soft] =
      /^Max open files\s+(\d+|unlimited)/m.exec(readFileSync(`/proc/${osPid}/limits`, 'utf8')) ?? []
    if (soft === undefined) return null
    return soft === 'unlimited' ? Number.POSITIVE_INFINITY : Number(soft)
  } catch {
    return null
  }
}

/** Null where they cannot be counted. */
export function openDescriptorsOf(osPid: number | 'self'): number | null {
  try {
    return readdirSync(`/proc/${osPid}/fd`).length
  } catch (error) {
    // There is not even one left to count with.
    return isOutOfDescriptors(error) ? Number.POSITIVE_INFINITY : null
  }
}

/** How many may be opened before the reserve is touched. Infinite where that is not known. */
export function freeDescriptors({ limit, open }: Descriptors): number {
  return Math.max(0, limit - open - RESERVED_DESCRIPTORS)
}

/** This OS process, or all of them together, has as many descriptors open as it may. */
export function isOutOfDescriptors(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'EMFILE' || error.code === 'ENFILE')
}
