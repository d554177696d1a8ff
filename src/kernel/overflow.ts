import type { Change } from '../core/change.ts'
import { isReleaseDue } from '../core/inbox/flood.ts'
import type { Inbox } from '../core/inbox/inbox.ts'
import { releasedNotice } from '../core/inbox/notice.ts'
import { knownEvent, type StoredEvent } from '../core/process/event.ts'
import type { Scope } from '../core/process/record.ts'
import type { Edges } from './edges.ts'
import type { PlanPart } from './plan-part.ts'
import { WorkingRows } from './working-rows.ts'

/** The inbox of a scope after `changes`, which release the matches that were held back long enough. */
export function* releaseDue(
  rows: WorkingRows,
  scope: Scope,
  at: number,
): PlanPart<{ readonly inbox: Inbox | null; readonly changes: readonly Change[] }> {
  const inbox = yield* rows.inbox(scope)
  if (inbox === null || !isReleaseDue(inbox.overflow, at)) return { inbox, changes: [] }
  const { tripped } = inbox.overflow
  const by = tripped === null ? null : yield* rows.process(tripped.pid)
  const released: Inbox = { ...inbox, overflow: { ...inbox.overflow, tripped: null } }
  const changes: Change[] = [{ type: 'inbox', was: inbox, inbox: released }]
  // A pruned process makes no notices any more.
  if (by !== null && tripped !== null)
    changes.push({ type: 'notice', notice: releasedNotice(scope, tripped, by.record, at) })
  return { inbox: released, changes }
}

/** Releases the matches that are held back for a scope, if they are due. Answers until when matches are still held back. */
export function release(edges: Edges, scope: Scope): Promise<number | null> {
  return edges.store.write(function* () {
    const rows = new WorkingRows()
    const { inbox, changes } = yield* releaseDue(rows, scope, edges.clock.now())
    return { answer: inbox?.overflow.tripped?.until ?? null, changes }
  })
}

/** Whether matches are held back from this event on. */
export function tripsOverflow(event: StoredEvent): boolean {
  const known = knownEvent(event)
  return known?.type === 'watch_matched' && known.payload.told === 'tripped'
}

const PAGE = 100
/** Bounds the delay when the clock is set back. */
const MAX_DELAY_MS = 60_000

/**
 * Releases held-back matches in every inbox when they are due. A crash leaves them in the store, where the next kernel finds
 * them.
 */
export class Releases {
  readonly #edges: Edges
  readonly #release: (scope: Scope) => Promise<void>
  readonly #timers = new Map<string, () => void>()
  #stopped = false

  constructor(edges: Edges, release: (scope: Scope) => Promise<void>) {
    this.#edges = edges
    this.#release = release
  }

  async look(): Promise<void> {
    if (this.#stopped) return
    const inboxes = await this.#edges.store.ask({ ask: 'overflowing', limit: PAGE })
    for (const { scope, overflow } of inboxes) this.expect(scope, overflow.tripped?.until ?? 0)
  }

  /** Matches are held back for this scope until then. */
  expect(scope: Scope, until: number): void {
    if (this.#stopped || this.#timers.has(scope)) return
    const ms = Math.min(MAX_DELAY_MS, Math.max(0, until - this.#edges.clock.now()))
    const cancel = this.#edges.clock.after(ms, () => {
      this.#timers.delete(scope)
      this.#release(scope)
        .then(() => this.look())
        .catch((error: unknown) =>
          this.#edges.onTrouble(error, `releasing the matches held back for ${scope}`),
        )
    })
    this.#timers.set(scope, cancel)
  }

  stop(): void {
    this.#stopped = true
    for (const cancel of this.#timers.values()) cancel()
    this.#timers.clear()
  }
}
