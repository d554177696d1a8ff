import { RefusedError } from '../core/errors.ts'
import type { Intent } from '../core/process/intent.ts'
import type { Pid } from '../core/process/pid.ts'
import type { ProcessRecord } from '../core/process/record.ts'
import type { Edges } from './edges.ts'
import type { Feed } from './feed.ts'

export interface RunLimitsOptions {
  /** The kernel that stops them. */
  readonly self: () => string
  readonly perform: (intent: Intent) => Promise<unknown>
}

const REASON = 'limit:runMs'

/**
 * Stops processes that run for longer than `limits.runMs` allows, where no keeper does so: tools and workflows, here
 * or in a worker. The time counts from the first start, also while the process waits. A parked process is due at its end.
 */
export class RunLimits {
  readonly #edges: Edges
  readonly #feed: Feed
  readonly #options: RunLimitsOptions
  readonly #watched = new Map<Pid, () => void>()

  constructor(edges: Edges, feed: Feed, options: RunLimitsOptions) {
    this.#edges = edges
    this.#feed = feed
    this.#options = options
  }

  watch({ pid, kind, limits, firstStarted, createdAt }: ProcessRecord): void {
    if (limits.runMs === undefined || kind === 'command' || this.#watched.has(pid)) return
    this.#wait(pid, (firstStarted?.at ?? createdAt) + limits.runMs)
  }

  close(): void {
    for (const forget of [...this.#watched.values()]) forget()
  }

  #wait(pid: Pid, dueAt: number): void {
    const { clock } = this.#edges
    const cancel = clock.after(Math.max(0, dueAt - clock.now()), () => {
      forget()
      this.#end(pid)
    })
    const off = this.#feed.on(pid, (events) => {
      if (events?.some(({ type }) => type === 'ended')) forget()
    })
    const forget = () => {
      cancel()
      off()
      this.#watched.delete(pid)
    }
    this.#watched.set(pid, forget)
  }

  #end(pid: Pid): void {
    this.#stop(pid).catch((error: unknown) => {
      // It has ended by itself, or is being stopped already.
      if (error instanceof RefusedError) return
      this.#edges.onTrouble(error, `stopping ${pid}`)
      this.#wait(pid, this.#edges.clock.now() + RETRY_MS)
    })
  }

  #stop(pid: Pid): Promise<unknown> {
    const { self, perform } = this.#options
    return perform({
      type: 'stop',
      pid,
      how: 'kill',
      reason: REASON,
      cause: null,
      replayKey: REASON,
      actor: `kernel:${self()}`,
      at: this.#edges.clock.now(),
    })
  }
}

/** How soon a stop that the store could not record is tried again. */
const RETRY_MS = 500
