import { ReeveError } from '../core/errors.ts'
import { type Lock, takeLock } from '../keeper/protocol/lock.ts'

const LOCK_TRIES = 200
const LOCK_MS = 10

/** The program that has the lock only writes a small file: it is waited for. */
export function waitForLock(path: string): Lock {
  for (let tries = 0; tries < LOCK_TRIES; tries++) {
    const lock = takeLock(path)
    if (lock !== null) return lock
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LOCK_MS)
  }
  throw new ReeveError(
    'home_unusable',
    `Another program keeps ${path} locked.`,
    'Try again; if it stays, look which program has that file open.',
  )
}
