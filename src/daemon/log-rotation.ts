import { copyFileSync, fstatSync, ftruncateSync, renameSync, rmSync, statSync } from 'node:fs'

export const MAX_LOG_BYTES = 10 * 1024 * 1024

/** A rotation that failed, on a full disk for example, is tried again when the log has grown by so much. */
const RETRY_BYTES = 1024 * 1024

interface LogFile {
  readonly path: string
  /** Open for appending: a truncated log is written from its beginning then. */
  readonly fd: number
  readonly maxBytes?: number
}

/**
 * Keeps a log file below a limit while it is being written. The log is copied to `<path>.1`, which replaces the copy before it, and
 * then truncated. It is not renamed: standard error is the same file, and the crash reports that Node or V8 print there must stay
 * findable.
 */
export class LogRotation {
  readonly #file: Required<LogFile>
  #limit: number

  constructor({ path, fd, maxBytes = MAX_LOG_BYTES }: LogFile) {
    this.#file = { path, fd, maxBytes }
    this.#limit = maxBytes
  }

  /** Call it before a line is written, so that no line is divided between two files. Never throws. */
  rotateIfFull(): void {
    const { path, fd, maxBytes } = this.#file
    const { size } = fstatSync(fd)
    if (size <= this.#limit) return
    this.#limit = tryRotate(path, fd) ? maxBytes : size + RETRY_BYTES
  }
}

/** Whether the file at this path is the open one. After a home was moved, another daemon's log may be there. */
export function isFileAt(path: string, fd: number): boolean {
  const open = fstatSync(fd)
  const found = statSync(path, { throwIfNoEntry: false })
  return found !== undefined && found.ino === open.ino && found.dev === open.dev
}

/**
 * Only the daemon that holds the home rotates, and it writes nothing meanwhile. A daemon that is refused beside it may append a
 * line during the copy: then the copy is made again.
 */
function tryRotate(path: string, fd: number): boolean {
  const draft = `${path}.1.new`
  try {
    if (!isFileAt(path, fd)) return false
    for (let tries = 0; tries < MAX_COPIES; tries++) {
      copyFileSync(path, draft)
      if (statSync(draft).size < fstatSync(fd).size) continue
      renameSync(draft, `${path}.1`)
      ftruncateSync(fd)
      return true
    }
  } catch {
    // The log goes on in one file. A disk that is full is reported where lines cannot be written.
  }
  removeIfPossible(draft)
  return false
}

const MAX_COPIES = 5

function removeIfPossible(path: string): void {
  try {
    rmSync(path, { force: true })
  } catch {
    // A file system that is read-only by now. The next rotation overwrites the draft.
  }
}
