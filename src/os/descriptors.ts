import { readdirSync, readFileSync } from 'node:fs'
import { codeOf } from '../base/error-text.ts'

/** How many descriptors an OS process may have open at once, and how many it has. */
export interface Descriptors {
  readonly limit: number
  readonly open: number
}

/**
 * Descriptors that daemon and keeper keep free. When none are left for new programs, running ones can still be inspected and
 * ended: that takes reads of /proc, files that record an end, and connections of clients.
 */
export const RESERVED_DESCRIPTORS = 48

/** Null where the system does not tell this user. */
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
    // No descriptor is left to count with.
    return isOutOfDescriptors(error) ? Number.POSITIVE_INFINITY : null
  }
}

/** How many may be opened before the reserve is used. Infinite where that is not known. */
export function freeDescriptors({ limit, open }: Descriptors): number {
  return Math.max(0, limit - open - RESERVED_DESCRIPTORS)
}

/** This OS process, or all of them together, has as many descriptors open as it may. */
export function isOutOfDescriptors(error: unknown): boolean {
  return codeOf(error) === 'EMFILE' || codeOf(error) === 'ENFILE'
}
