import { createHash } from 'node:crypto'
import { canonical } from '../core/json/canonical.ts'
import type { Json } from '../core/json/json.ts'
import type { Pid } from '../core/process/pid.ts'
import type { ProcessRecord } from '../core/process/record.ts'

const DUPLICATE_MS = 5_000
/** Of more starts than this within that time, only the latest are remembered. */
const MAX_RECENT = 10_000

/** Commands that were started moments ago, to warn an agent that starts the same one twice. */
export class RecentStarts {
  /** By a hash of owner, spec and folder; the latest last. */
  readonly #recent = new Map<string, { readonly pid: Pid; readonly at: number }>()

  /** The pid of the same command of the same owner, if it was started moments ago. Remembers this one. */
  duplicateOf(record: ProcessRecord): Pid | undefined {
    const { pid, owner, spec, cwd, restartOf, createdAt } = record
    const key = createHash('sha256')
      .update(canonical([owner, spec, cwd] as Json))
      .digest('base64')
    const earlier = this.#recent.get(key)
    this.#recent.delete(key)
    this.#recent.set(key, { pid, at: createdAt })
    for (const [oldest, { at }] of this.#recent) {
      if (this.#recent.size <= MAX_RECENT && createdAt - at <= DUPLICATE_MS) break
      this.#recent.delete(oldest)
    }
    if (earlier === undefined || earlier.pid === pid || restartOf !== null) return undefined
    return createdAt - earlier.at <= DUPLICATE_MS ? earlier.pid : undefined
  }
}
