import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A new folder in memory, where there is such a place: a world makes thousands of commits, and none must outlive it. */
export function ramFolder(): string {
  try {
    return mkdtempSync('/dev/shm/reeve-simulation-')
  } catch {
    return mkdtempSync(join(tmpdir(), 'reeve-simulation-'))
  }
}
