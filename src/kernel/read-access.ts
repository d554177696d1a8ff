import { isOwn, type Visibility, visibilityOf } from '../core/authority/visibility.ts'
import type { Cancel } from '../core/clock.ts'
import { RefusedError } from '../core/errors.ts'
import type { StoredEvent } from '../core/process/event.ts'
import type { Pid } from '../core/process/pid.ts'
import type { Actor } from '../core/process/record.ts'
import { refusal } from '../core/refusal.ts'
import type { Edges } from './edges.ts'
import type { Feed } from './feed.ts'
import { prunedPid } from './perform.ts'

/** A grant that another kernel on the same store revokes makes no event: it is noticed within this time. */
const RECHECK_MS = 1_000
/** Processes that one question is about. */
const PAGE = 500

/** A process that a lasting call is about, which the actor may read now and may lose. */
interface Watch {
  readonly pid: Pid
  /** The last check found that the actor may read it. Only a readable process can be lost. */
  isReadable: boolean
  /** Only a grant makes it readable, as far as is known. */
  isGranted: boolean
  lost(reason: LossReason): void
}

export type LossReason = 'no_access' | 'pruned'

/** Stop it when the call is over. */
export interface AccessWatch {
  /** Resolves after the first check. */
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

/** Waits and followers of one session, whose access is read together. */
interface Watched {
  readonly visibility: Visibility
  readonly watches: Set<Watch>
}

/**
 * Tells calls that last (waits, followers, terminals) when their actor can no longer read a process: its grant was
 * revoked, the process has moved to another session, or it was pruned.
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
   * Calls `lost` for each of these processes that the actor can no longer read. Subscribes before the first check, so that
   * no loss is missed. `wereReadable`: the actor has read them a moment ago.
   */
  watch(
    actor: Actor,
    pids: readonly Pid[],
    wereReadable: boolean,
    lost: (pid: Pid, reason: LossReason) => void,
  ): AccessWatch {
    const visibility = visibilityOf(actor)
    // The host sees everything, and a process keeps its children.
    if (visibility.type !== 'session' || pids.length === 0) return UNWATCHED
    const watches = pids.map(
      (pid): Watch => ({
        pid,
        isReadable: wereReadable,
        isGranted: true,
        lost: (reason) => lost(pid, reason),
      }),
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

  /** Checks the calls that rely on a grant, after grants were revoked here. */
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
      const missing = page.filter(({ pid, isReadable }) => isReadable && !records.has(pid))
      const existing = await this.#existing([...new Set(missing.map(({ pid }) => pid))])
      for (const watch of page) {
        const record = records.get(watch.pid)
        if (record !== undefined) {
          watch.isReadable = true
          watch.isGranted = !isOwn(record, visibility)
        } else if (watch.isReadable && watches.delete(watch)) {
          watch.isReadable = false
          watch.lost(existing.has(watch.pid) ? 'no_access' : 'pruned')
        }
      }
    }
  }

  async #existing(pids: readonly Pid[]): Promise<ReadonlySet<Pid>> {
    if (pids.length === 0) return new Set()
    const filter = { pid: pids, status: 'any' } as const
    const question = { ask: 'processes', filter, after: null, limit: pids.length } as const
    const { items } = await this.#edges.store.ask(question)
    return new Set(items.map(({ record }) => record.pid))
  }

  #inBackground(checking: Promise<void>): void {
    checking.catch((error: unknown) => this.#edges.onTrouble(error, CHECKING_ACCESS))
  }
}

/** The activity that troubles of a check are reported with. */
export const CHECKING_ACCESS = 'checking read access'

/** The error that ends a call whose actor can no longer read the process. */
export function accessLost(actor: Actor, pid: Pid, reason: LossReason): RefusedError {
  if (reason === 'pruned') return new RefusedError(prunedPid(pid))
  return new RefusedError(
    refusal(
      'denied',
      `${actor} may no longer read process ${pid}: its grant was revoked, or the process has moved.`,
      'Ask its owner for a grant, or act as the host.',
      { subject: actor, right: 'read' },
    ),
  )
}
