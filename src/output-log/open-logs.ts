/** A log that can close its files, and reopens them when it needs them. */
export interface OpenLog {
  closeFiles(): void
}

/**
 * An LRU of the logs whose files are open. A program that prints nothing then needs one descriptor, that of its pipe.
 */
export class OpenLogs {
  readonly #max: number
  /** Least recently written first. */
  readonly #open = new Set<OpenLog>()

  constructor(max: number) {
    this.#max = max
  }

  get size(): number {
    return this.#open.size
  }

  used(log: OpenLog): void {
    this.#open.delete(log)
    this.#open.add(log)
    for (const oldest of this.#open) {
      if (this.#open.size <= this.#max) return
      this.#open.delete(oldest)
      oldest.closeFiles()
    }
  }

  closed(log: OpenLog): void {
    this.#open.delete(log)
  }
}

/** Each log has two files. With many descriptors available, reopening files would only cost time. */
export function maxOpenLogs(descriptorLimit: number): number {
  return Math.min(MAX_OPEN_LOGS, Math.max(MIN_OPEN_LOGS, Math.floor(descriptorLimit / LIMIT_PER_LOG)))
}

const MIN_OPEN_LOGS = 4
const MAX_OPEN_LOGS = 256
const LIMIT_PER_LOG = 16
