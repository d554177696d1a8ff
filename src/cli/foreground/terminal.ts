import { spawnSync } from 'node:child_process'
import type { ReadStream, WriteStream } from 'node:tty'
import type { Surroundings } from '../context.ts'
import { writeAll } from '../write-all.ts'

/** The user's terminal. */
export interface Terminal {
  size(): { readonly cols: number; readonly rows: number }
  /** Reads keys in raw mode, and calls `onKeys` for one piece after the other. The returned function ends raw mode. */
  raw(onKeys: (keys: Buffer) => Promise<void>): () => void
  setRaw(isRaw: boolean): void
  /** The returned function removes the listener. */
  onResize(listener: () => void): () => void
  show(bytes: Uint8Array): Promise<void>
}

export function terminalOf({ stdin, stdout }: Surroundings): Terminal {
  const keyboard = stdin as ReadStream
  const screen = stdout as WriteStream
  const setRaw = (isRaw: boolean) => {
    keyboard.setRawMode?.(isRaw)
    // Node's raw mode leaves output processing on, which adds a carriage return to every newline. The command's own terminal has
    // done that already; a full-screen program that moves the cursor down by a newline would end up in the first column.
    if (isRaw) spawnSync('stty', ['-opost'], { stdio: ['inherit', 'ignore', 'ignore'] })
  }
  return {
    size: () => ({ cols: clamp(screen.columns ?? 80), rows: clamp(screen.rows ?? 24) }),
    setRaw,
    raw(onKeys) {
      let last: Promise<void> = Promise.resolve()
      const onData = (keys: Buffer) => {
        last = last.then(() => onKeys(keys)).catch(() => undefined)
      }
      // However this program ends, the shell gets its terminal back in cooked mode.
      const restore = () => setRaw(false)
      setRaw(true)
      process.on('exit', restore)
      // The terminal was taken away: exit as if its window had been closed (SIGHUP).
      const onGone = () => process.exit(128 + 1)
      keyboard.on('error', onGone)
      keyboard.on('data', onData)
      keyboard.resume()
      return () => {
        keyboard.off('data', onData)
        keyboard.off('error', onGone)
        keyboard.pause()
        process.off('exit', restore)
        restore()
      }
    },
    onResize(listener) {
      screen.on('resize', listener)
      return () => void screen.off('resize', listener)
    },
    show: (bytes) => writeAll(screen, bytes),
  }
}

/** A terminal that is being closed has the size 0. */
function clamp(side: number): number {
  return Math.min(1_000, Math.max(1, side))
}
