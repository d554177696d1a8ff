import { type FSWatcher, watch } from 'node:fs'
import type { DirectLog } from './direct-log.ts'
import type { Output } from './output.ts'
import { CHECK_DISK_BYTES } from './output-log.ts'

export interface DirectEvents {
  grew(): void
  /** The disk is nearly full: the program must stop, or has room again. */
  diskFull(isFull: boolean): void
  /** No process is left that could write. */
  ended(): void
}

/**
 * Output that a program writes itself. While it grows, it is polled every few milliseconds; while it does not, the system is asked
 * to report a change.
 *
 * | state  | it changes | it does not | nearly full         | the program has ended          |
 * | grows  | reported   | → quiet     | reported; → full    | → late                         |
 * | quiet  | → grows    | –           | –                   | → late                         |
 * | full   | –          | –           | – (room: → grows)   | → late                         |
 * | late   | reported   | –           | –                   | its tree is empty: closed      |
 */
export class DirectOutput implements Output {
  readonly #log: DirectLog
  readonly #events: DirectEvents
  readonly #hasWriters: () => boolean
  #isOpen = true
  #isLate = false
  #isFull = false
  /** Null until it has grown. */
  #checkedEnd: number | null = null
  readonly #firstEnd: number
  #quietSince = performance.now()
  #timer: NodeJS.Timeout | null = null
  #watcher: FSWatcher | null = null

  /** `hasWriters`: whether a process of its tree still lives. */
  constructor(log: DirectLog, events: DirectEvents, hasWriters: () => boolean) {
    this.#log = log
    this.#events = events
    this.#hasWriters = hasWriters
    this.#firstEnd = log.end
    this.#lookIn(LOOK_MS)
  }

  get isOpen(): boolean {
    return this.#isOpen
  }

  /** Nothing to do: there is no pipe between the program and its log. */
  flow(): void {}

  wake(): void {}

  drain(): void {
    this.#look()
  }

  leaderGone(): void {
    this.#isLate = true
    this.#stopWatching()
    // Its descendants were stopped with it, and have to be resumed.
    if (this.#isFull) this.#events.diskFull(false)
    if (this.#hasWriters()) this.#lookIn(LATE_LOOK_MS)
    else this.close()
  }

  close(): void {
    this.#isOpen = false
    this.#stopWatching()
  }

  #tick(): void {
    const now = performance.now()
    if (this.#look()) this.#quietSince = now
    if (this.#isLate) {
      if (this.#hasWriters()) this.#lookIn(LATE_LOOK_MS)
      else {
        this.close()
        this.#events.ended()
      }
    } else if (this.#isFull || !this.#hasRoom()) this.#waitForRoom()
    else if (now - this.#quietSince < QUIET_MS) this.#lookIn(LOOK_MS)
    else this.#waitForChange()
  }

  #look(): boolean {
    const grew = this.#log.look()
    if (grew) this.#events.grew()
    return grew
  }

  /** A program that writes its own log loses output on a full disk, so free space is checked from the first byte on. */
  #hasRoom(): boolean {
    const { end } = this.#log
    const isDue =
      this.#checkedEnd === null
        ? end !== this.#firstEnd
        : Math.abs(end - this.#checkedEnd) >= CHECK_DISK_BYTES
    if (!isDue) return true
    this.#checkedEnd = end
    return this.#log.hasRoom
  }

  #waitForRoom(): void {
    const isFull = !this.#log.hasRoom
    if (isFull !== this.#isFull) this.#events.diskFull(isFull)
    this.#isFull = isFull
    this.#quietSince = performance.now()
    this.#lookIn(isFull ? ROOM_LOOK_MS : LOOK_MS)
  }

  #waitForChange(): void {
    const changed = () => {
      this.#stopWatching()
      this.#quietSince = performance.now()
      this.#tick()
    }
    // The file can't be watched, because the system has too many watches, for example: it is polled instead.
    const cannot = () => this.#lookIn(LATE_LOOK_MS)
    try {
      this.#watcher = watch(this.#log.path, changed).on('error', cannot)
    } catch {
      cannot()
    }
    if (this.#look()) changed()
  }

  #lookIn(ms: number): void {
    this.#stopWatching()
    this.#timer = setTimeout(() => this.#tick(), ms)
  }

  #stopWatching(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
    this.#watcher?.close()
    this.#watcher = null
  }
}

const LOOK_MS = 10
const QUIET_MS = 500
const LATE_LOOK_MS = 500
const ROOM_LOOK_MS = 1000
