import { readFileSync } from 'node:fs'
import { codeOf } from '../base/error-text.ts'

/** The text of a file below /proc. Null if its process is gone; a process that ends during the read causes ESRCH. */
export function readProc(path: string): string | null {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (isGone(error)) return null
    throw error
  }
}

/** Returns `otherwise` for an unreadable file: it belongs to another user, whose process could not be signalled either. */
export function whereReadable<T>(read: () => T, otherwise: T): T {
  try {
    return read()
  } catch (error) {
    if (isGone(error) || isForbidden(error)) return otherwise
    throw error
  }
}

export function isGone(error: unknown): boolean {
  const code = codeOf(error)
  return code === 'ENOENT' || code === 'ESRCH'
}

export function isForbidden(error: unknown): boolean {
  const code = codeOf(error)
  return code === 'EACCES' || code === 'EPERM'
}
