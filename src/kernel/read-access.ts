import { isOwn, type Visibility, visibilityOf } from '../core/authority/visibility.ts'
import type { Cancel } from '../core/clock.ts'
import { RefusedError } from '../core/errors.ts'
import type { StoredEvent } from '../core/process/event.ts'
import type { Pid } from '../core/process/pid.ts'
import type { Actor } from '../core/process/record.ts'
import { refusal } from '../core/refusal.ts'
import type { Edges } from './edges.ts'
import type { Feed } from './feed.ts'

/** A grant that another kernel on the same store revokes makes no event: it is noticed within this time. */
const RECHECK_MS = 1_000
/** Processes that one question is about. */
const PAGE = 500

/** A process that a lasting call is about, which the actor may read now and may lose. */
interface Watch {
  readonly pid: Pid
  /** The actor could read it when that was last looked at. What it cannot read, it cannot lose. */
  isReadable: boolean
  /** Only a grant makes it readable, as far as is known. */
  isGranted: boolean
  lost(): void
}

/** Stop it when the call is over. */
export interface AccessWatch {
  /** Resolves when access was looked at for the first time. */
  readonly checked: Promise<void>
  areAnyReadable(): boolean
  stop(): void
}

/** For an actor that loses nothing. */
const UNWATCHED: AccessWatch = {
  checked: Promise.resolve(),
  areAnyReadable: () => true,
  stop: () => undefined,
}

/** Waits and followers of one session; every session is asked about by itself. */
interface Watched {
  readonly visibility: Visibility
  readonly watches: Set<Watch>
}

/**
 * Tells calls that last (waits, followers, terminals) when their actor may no longer read a process: its grant was
 * revoked, or the process has moved to another session.
 */
export class ReadAccess {
  readonly #edges: Edges
  readonly #bySession = new Map<Actor, Watched>()
  readonly #stopListening: () => void
  #recheck: Cancel | undefined

  constructor(edges: Edges, feed: Feed) {
    this.#edges = edges
    this.#stopListening = feed.onAll((events) => this.#heard(events))
  }

  /**
   * Calls `lost` for each of these processes that the actor can no longer read. Subscribes before it looks, so that a loss in
   * between counts: `checked` resolves after that look. `wereReadable`: the actor has read them a moment ago.
   */
  watch(actor: Actor, pids: readonly Pid[], wereReadable: boolean, lost: (pid: Pid) => void): AccessWatch {
    const visibility = visibilityOf(actor)
    // The host sees everything, and a process keeps its children.
    if (visibility.type !== 'session' || pids.length === 0) return UNWATCHED
    const watches = pids.map(
      (pid): Watch => ({ pid, isReadable: wereReadable, isGranted: true, lost: () => lost(pid) }),
    )
    const watched = this.#bySession.get(actor) ?? { visibility, watches: new Set() }
    for (const watch of watches) watched.watches.add(watch)
    this.#bySession.set(actor, watched)
    this.#recheckLater()
    return {
      checked: this.#check(watched, watches),
      areAnyReadable: () => watches.some(({ isReadable }) => isReadable),
      stop: () => {
        for (const watch of watches) watched.watches.delete(watch)
        if (watched.watches.size === 0 && this.#bySession.get(actor) === watched)
          this.#bySession.delete(actor)
      },
    }
  }

  /** Grants were revoked here: whoever relied on them is told at once. */
  async grantsRevoked(): Promise<void> {
    for (const watched of [...this.#bySession.values()])
      await this.#check(
        watched,
        [...watched.watches].filter(({ isGranted }) => isGranted),
      )
  }

  close(): void {
    this.#stopListening()
    this.#recheck?.()
    this.#recheck = undefined
    this.#bySession.clear()
  }

  #heard(events: readonly StoredEvent[]): void {
    if (this.#bySession.size === 0) return
    const moved = new Set(events.filter(({ type }) => type === 'reowned').map(({ pid }) => pid))
    if (moved.size === 0) return
    for (const watched of this.#bySession.values())
      this.#inBackground(
        this.#check(
          watched,
          [...watched.watches].filter(({ pid }) => moved.has(pid)),
        ),
      )
  }

  #recheckLater(): void {
    this.#recheck ??= this.#edges.clock.after(RECHECK_MS, () => {
      this.#recheck = undefined
      if (this.#bySession.size === 0) return
      this.#inBackground(this.grantsRevoked())
      this.#recheckLater()
    })
  }

  async #check({ visibility, watches }: Watched, some: readonly Watch[]): Promise<void> {
    for (let from = 0; from < some.length; from += PAGE) {
      const page = some.slice(from, from + PAGE)
      const pids = [...new Set(page.map(({ pid }) => pid))]
      const { items } = await this.#edges.store.ask({
        ask: 'processes',
        filter: { pid: pids, status: 'any' },
        visibleTo: visibility,
        after: null,
        limit: pids.length,
      })
      const records = new Map(items.map(({ record }) => [record.pid, record]))
      for (const watch of page) {
        const record = records.get(watch.pid)
        if (record !== undefined) {
          watch.isReadable = true
          watch.isGranted = !isOwn(record, visibility)
        } else if (watch.isReadable && watches.delete(watch)) {
          watch.isReadable = false
          watch.lost()
        }
      }
    }
  }

  #inBackground(checking: Promise<void>): void {
    checking.catch((error: unknown) => this.#edges.onTrouble(error, 'looking who may still read a process'))
  }
}

/** What a call answers whose actor has lost the process that it is about. */
export function accessLost(actor: Actor, pid: Pid): RefusedError {
  return new RefusedError(
    refusal(
      'denied',
      `${actor} may no longer read process ${pid}: its grant was revoked, or the process has moved.`,
      'Ask its owner for a grant, or act as the host.',
      { subject: actor, right: 'read' },
    ),
  )
}
