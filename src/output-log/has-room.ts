import { statfsSync } from 'node:fs'
import { codeOf } from '../base/error-text.ts'

/** Whether the disk of a log has this much free. */
export function hasRoom(folder: string, minFreeBytes: number): boolean {
  if (minFreeBytes <= 0) return true
  try {
    const { bavail, bsize } = statfsSync(folder)
    return bavail * bsize >= minFreeBytes
  } catch (error) {
    // The log was deleted, and needs no room.
    if (codeOf(error) === 'ENOENT') return true
    throw error
  }
}
