import { utimesSync, watch } from 'node:fs'
import type { Cancel } from '../../core/clock.ts'

/** The interval of polling, for file systems that send no events; otherwise events arrive at once. */
const POLL_MS = 1_000

/** Calls `look` soon after another process wrote to `file`, and at an interval. Does not keep the OS process alive. */
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
  const timer = setInterval(look, POLL_MS)
  timer.unref()
  const watcher = watch(file, { persistent: false }, soon)
  // Without the watcher the timer still polls.
  watcher.on('error', () => watcher.close())
  return () => {
    clearInterval(timer)
    watcher.close()
  }
}

/**
 * Causes one more event for all watchers of `file`. A commit is written to it, then flushed, and only then visible to other
 * processes: on a disk they have looked before that, and would look again only a second later.
 */
export function touchFile(file: string): void {
  const now = Date.now() / 1_000
  try {
    utimesSync(file, now, now)
  } catch {
    // Other processes find the commit when they poll.
  }
}
