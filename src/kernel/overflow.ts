import type { Change } from '../core/change.ts'
import { isReleaseDue } from '../core/inbox/flood.ts'
import type { Inbox } from '../core/inbox/inbox.ts'
import { releasedNotice } from '../core/inbox/notice.ts'
import type { Scope } from '../core/process/record.ts'
import type { Question } from '../store/contract.ts'
import type { Edges } from './edges.ts'
import type { WorkingRows } from './working-rows.ts'

type Asking<Answer> = Generator<readonly Question[], Answer, readonly unknown[]>

/** The inbox of a scope, after what it has held back for long enough is released by `changes`. */
export function* releaseDue(
  rows: WorkingRows,
  scope: Scope,
  at: number,
): Asking<{ readonly inbox: Inbox | null; readonly changes: readonly Change[] }> {
  const inbox = yield* rows.inbox(scope)
  if (inbox === null || !isReleaseDue(inbox.overflow, at)) return { inbox, changes: [] }
  const { tripped } = inbox.overflow
  const by = tripped === null ? null : yield* rows.process(tripped.pid)
  const released: Inbox = { ...inbox, overflow: { ...inbox.overflow, tripped: null } }
  const changes: Change[] = [{ type: 'inbox', was: inbox, inbox: released }]
  // Of a process that was pruned nothing is told any more.
  if (by !== null && tripped !== null)
    changes.push({ type: 'notice', notice: releasedNotice(scope, tripped, by.record, at) })
  return { inbox: released, changes }
}

const PAGE = 100
/** A clock that was set back must not keep them waiting for as long as it was set back by. */
const MAX_MS = 60_000

/**
 * Releases what is due in every inbox, and looks again when the next is. A crash in between leaves what is due in the store,
 * where the next kernel finds it.
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

  /** Something is held back for this scope until then. */
  expect(scope: Scope, until: number): void {
    if (this.#stopped || this.#timers.has(scope)) return
    const ms = Math.min(MAX_MS, Math.max(0, until - this.#edges.clock.now()))
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
