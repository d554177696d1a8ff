import { spawnSync } from 'node:child_process'
import type { ReadStream, WriteStream } from 'node:tty'
import type { Surroundings } from '../context.ts'
import { writeAll } from '../write-all.ts'

/** The terminal that a person sits at. */
export interface Terminal {
  size(): { readonly cols: number; readonly rows: number }
  /** Keys as they are typed, one after the other has been taken. Undo with what is returned. */
  raw(taken: (keys: Buffer) => Promise<void>): () => void
  /** Lines and keys belong to the shell again, or not. */
  setRaw(isRaw: boolean): void
  onResize(heard: () => void): () => void
  show(bytes: Uint8Array): Promise<void>
}

export function terminalOf({ stdin, stdout }: Surroundings): Terminal {
  const keyboard = stdin as ReadStream
  const screen = stdout as WriteStream
  const setRaw = (isRaw: boolean) => {
    keyboard.setRawMode?.(isRaw)
    // Node leaves it on that the terminal adds a return to every newline. The command's own terminal has done that where it
    // was wanted; a full-screen program that moves the cursor down with a newline would end up in the first column.
    if (isRaw) spawnSync('stty', ['-opost'], { stdio: ['inherit', 'ignore', 'ignore'] })
  }
  return {
    size: () => ({ cols: clamp(screen.columns ?? 80), rows: clamp(screen.rows ?? 24) }),
    setRaw,
    raw(taken) {
      let last: Promise<void> = Promise.resolve()
      const heard = (keys: Buffer) => {
        last = last.then(() => taken(keys)).catch(() => undefined)
      }
      // However this program ends, the terminal is the shell's again.
      const restore = () => setRaw(false)
      setRaw(true)
      process.on('exit', restore)
      // Whoever had it has taken it back: as if its window had been closed.
      const gone = () => process.exit(128 + 1)
      keyboard.on('error', gone)
      keyboard.on('data', heard)
      keyboard.resume()
      return () => {
        keyboard.off('data', heard)
        keyboard.off('error', gone)
        keyboard.pause()
        process.off('exit', restore)
        restore()
      }
    },
    onResize(heard) {
      screen.on('resize', heard)
      return () => void screen.off('resize', heard)
    },
    show: (bytes) => writeAll(screen, bytes),
  }
}

/** A terminal that is being closed says 0. */
function clamp(side: number): number {
  return Math.min(1_000, Math.max(1, side))
}
