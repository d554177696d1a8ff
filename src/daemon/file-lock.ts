import { ReeveError } from '../core/errors.ts'
import { type Lock, takeLock } from '../keeper/protocol/lock.ts'

const LOCK_TRIES = 200
const LOCK_MS = 10

/** Waits for the lock, synchronously: its holder only writes a small file. */
export function waitForLock(path: string): Lock {
  for (let tries = 0; tries < LOCK_TRIES; tries++) {
    const lock = takeLock(path)
    if (lock !== null) return lock
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LOCK_MS)
  }
  throw new ReeveError(
    'home_unusable',
    `Another program keeps ${path} locked.`,
    'Try again; if that does not help, find out which program has that file open.',
  )
}
