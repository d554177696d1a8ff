import { utimesSync, watch } from 'node:fs'
import type { Cancel } from '../../core/clock.ts'

/** A safety net for file systems that tell nothing; what is told comes at once. */
const LOOK_MS = 1_000

/** Calls `look` soon after another process wrote to `file`, and every now and then besides. Keeps nobody awake. */
export function watchFile(file: string, _clock: unknown, look: () => void): Cancel {
  let armed = false
  const soon = () => {
    if (armed) return
    armed = true
    setImmediate(() => {
      armed = false
      look()
    })
  }
  const timer = setInterval(look, LOOK_MS)
  timer.unref()
  const watcher = watch(file, { persistent: false }, soon)
  // Without the watcher the timer still looks.
  watcher.on('error', () => watcher.close())
  return () => {
    clearInterval(timer)
    watcher.close()
  }
}

/**
 * Causes one more event for all that watch `file`. A commit is written to it first, flushed, and only then visible to other
 * processes: on a disk they have looked by then, and would look again a second later.
 */
export function touchFile(file: string): void {
  const now = Date.now() / 1_000
  try {
    utimesSync(file, now, now)
  } catch {
    // Then other processes hear of the commit when their timers look.
  }
}
