import { RefusedError } from '../core/errors.ts'
import type { StoredEvent } from '../core/process/event.ts'
import type { Pid } from '../core/process/pid.ts'
import { refusal } from '../core/refusal.ts'
import type { Commit } from '../store/contract.ts'
import type { Edges } from './edges.ts'

const PAGE = 1_000
/** How soon a failed read is repeated. Commits in between are still in the feed. */
const RETRY_MS = 500

type Listener = (events: readonly StoredEvent[]) => void
/** Null: events may have been pruned before they were read here, so the listener reads the process itself. */
type ProcessListener = (events: readonly StoredEvent[] | null) => void

/**
 * Every event of every process, in order, as it is committed: here or by another kernel. One reader per kernel serves
 * all listeners; each event reaches a listener once.
 *
 * | state    | own commit that follows on    | any other commit      | page read            |
 * | current  | handed on from memory         | reading               | –                    |
 * | reading  | noted: read again             | noted: read again     | handed on; then current, or read again |
 *
 * A commit is only a nudge: the store's feed after the last position that was handed on is the truth.
 */
export class Feed {
  readonly #edges: Edges
  readonly #byPid = new Map<Pid, Set<ProcessListener>>()
  readonly #all = new Set<Listener>()
  #position = 0
  #prunedThrough = 0
  #reading = false
  #again = false
  readonly #onStop = new Set<() => void>()
  #stop: (() => void) | undefined
  #stopped = false

  constructor(edges: Edges) {
    this.#edges = edges
  }

  get position(): number {
    return this.#position
  }

  async start(): Promise<void> {
    // Nothing is read before the start position is known.
    this.#reading = true
    this.#stop = this.#edges.store.onCommit((commit) => this.#nudged(commit))
    const { position } = await this.#edges.store.ask({
      ask: 'changes',
      after: Number.MAX_SAFE_INTEGER,
      limit: 1,
    })
    this.#position = position
    this.#reading = false
    this.#read()
  }

  /** Also ends every wait and every follower. */
  stop(): void {
    this.#stop?.()
    this.#stop = undefined
    this.#stopped = true
    for (const listener of [...this.#onStop]) listener()
  }

  get stopped(): boolean {
    return this.#stopped
  }

  onStop(listener: () => void): () => void {
    this.#onStop.add(listener)
    return () => this.#onStop.delete(listener)
  }

  /** Calls the listener with the events of one process from now on. Subscribe first, then read, so that nothing is missed. */
  on(pid: Pid, listener: ProcessListener): () => void {
    const listeners = this.#byPid.get(pid) ?? new Set()
    this.#byPid.set(pid, listeners.add(listener))
    return () => {
      listeners.delete(listener)
      if (listeners.size === 0 && this.#byPid.get(pid) === listeners) this.#byPid.delete(pid)
    }
  }

  onAll(listener: Listener): () => void {
    this.#all.add(listener)
    return () => this.#all.delete(listener)
  }

  #nudged({ after, events, position }: Commit): void {
    if (events !== null && after === this.#position && !this.#reading) {
      this.#position = position
      this.#handOn(events)
      return
    }
    this.#again = true
    this.#read()
  }

  #read(): void {
    if (this.#reading) return
    this.#reading = true
    this.#readPages().then(
      () => {
        this.#reading = false
        // A nudge arrived after the last page was read, and before the read returned.
        if (this.#again) this.#read()
      },
      (error: unknown) => {
        this.#reading = false
        if (this.#stop === undefined) return
        this.#edges.onTrouble(error, 'reading the change feed')
        this.#edges.clock.after(RETRY_MS, () => this.#stop !== undefined && this.#read())
      },
    )
  }

  async #readPages(): Promise<void> {
    do {
      this.#again = false
      const after = this.#position
      const { events, prunedThrough } = await this.#edges.store.ask({ ask: 'changes', after, limit: PAGE })
      this.#position = events.at(-1)?.position ?? this.#position
      if (events.length === PAGE) this.#again = true
      this.#handOn(events)
      if (prunedThrough > Math.max(after, this.#prunedThrough)) this.#tellOfGap()
      this.#prunedThrough = prunedThrough
    } while (this.#again)
  }

  #tellOfGap(): void {
    for (const listeners of [...this.#byPid.values()]) for (const listener of [...listeners]) listener(null)
  }

  #handOn(events: readonly StoredEvent[]): void {
    if (events.length === 0) return
    for (const listener of [...this.#all]) listener(events)
    if (this.#byPid.size === 0) return
    for (const event of events) {
      const listeners = this.#byPid.get(event.pid)
      if (listeners !== undefined) for (const listener of [...listeners]) listener([event])
    }
  }
}

/**
 * Follows the feed from a position: earlier commits, then new ones, without gap or repeat. Ends when `signal` is
 * aborted.
 */
export async function* followChanges(
  edges: Edges,
  feed: Feed,
  after: number,
  wanted: (event: StoredEvent) => boolean,
  signal: AbortSignal | undefined,
): AsyncGenerator<StoredEvent, void, void> {
  let position = after
  // A follower from position 0 asks for everything that is kept: pruned events are no error for it.
  let known = after === 0 ? null : 0
  let wake = () => {}
  const stop = feed.onAll(() => wake())
  const offStop = feed.onStop(() => wake())
  const aborted = () => wake()
  signal?.addEventListener('abort', aborted)
  try {
    while (!isAborted(signal) && !feed.stopped) {
      const heard = new Promise<void>((resolve) => {
        wake = resolve
      })
      const { events, prunedThrough } = await edges.store.ask({
        ask: 'changes',
        after: position,
        limit: PAGE,
      })
      known ??= prunedThrough
      if (position < prunedThrough && known < prunedThrough)
        throw new RefusedError(behindPruned(position, prunedThrough))
      for (const event of events) {
        position = event.position
        if (wanted(event)) yield event
        if (isAborted(signal)) return
      }
      if (events.length === 0) await heard
    }
  } finally {
    stop()
    offStop()
    signal?.removeEventListener('abort', aborted)
  }
}

export function behindPruned(position: number, prunedThrough: number) {
  return refusal(
    'behind_pruned',
    `Events up to position ${prunedThrough} may have been pruned, and you are at ${position}.`,
    `Read the processes again, then follow from ${prunedThrough}.`,
    { position, prunedThrough },
  )
}

function isAborted(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true
}
