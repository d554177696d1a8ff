import type { AuditAnchors } from '../actions/audit.ts'
import type { AuditAnchor } from '../core/audit/chain.ts'
import type { Cancel, Clock } from '../core/clock.ts'
import type { Edges } from '../kernel/edges.ts'
import type { Store } from '../store/contract.ts'

/** Keeps anchors outside of the store. A home may have used several stores: each has an id. */
export interface AnchorLog {
  /** In order of position. */
  read(store: string): readonly AuditAnchor[]
  append(store: string, anchor: AuditAnchor): void
}

interface AnchoringParts {
  readonly log: AnchorLog
  readonly store: Store
  readonly clock: Clock
  readonly hash: Edges['hash']
  readonly onTrouble: Edges['onTrouble']
}

const MIN_INTERVAL_MS = 1_000

/** Notes the end of the audit's chain outside of the store: soon after entries were appended, at most once a second. */
export class Anchoring implements AuditAnchors {
  readonly #parts: AnchoringParts
  #storeId: string | undefined
  /** The position of the last anchor. */
  #noted = 0
  #notedAt = Number.NEGATIVE_INFINITY
  #timer: Cancel | undefined
  #noting: Promise<void> = Promise.resolve()
  #isClosed = false

  constructor(parts: AnchoringParts) {
    this.#parts = parts
  }

  /** Entries may have been appended. */
  audited(): void {
    if (this.#isClosed || this.#timer !== undefined) return
    const { clock } = this.#parts
    const waitMs = this.#notedAt + MIN_INTERVAL_MS - clock.now()
    // A clock that was set back must not delay it for longer.
    this.#timer = clock.after(Math.min(MIN_INTERVAL_MS, Math.max(0, waitMs)), () => {
      this.#timer = undefined
      this.#notedAt = clock.now()
      this.#note()
    })
  }

  async anchors(): Promise<readonly AuditAnchor[]> {
    return this.#parts.log.read(await this.#store())
  }

  /** Notes the last entries, while the store is still open. */
  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#timer?.()
    this.#note()
    await this.#noting
  }

  /** One at a time, so that anchors are in order. */
  #note(): void {
    const { store, log, onTrouble } = this.#parts
    const noteNow = async () => {
      const id = await this.#store()
      const { position, hash } = await store.ask({ ask: 'auditTail' })
      // A chain that became shorter was cut: its anchors stay as they are, and prove it.
      if (position <= this.#noted) return
      log.append(id, { position, hash })
      this.#noted = position
    }
    this.#noting = this.#noting
      .then(noteNow)
      .catch((error: unknown) => onTrouble(error, 'noting the end of the audit'))
  }

  /** Derived from the secret of the store, which it does not tell. */
  async #store(): Promise<string> {
    if (this.#storeId !== undefined) return this.#storeId
    const { store, log, hash } = this.#parts
    const id = hash(`audit of ${await store.ask({ ask: 'secret' })}`).slice(0, 16)
    this.#noted = log.read(id).at(-1)?.position ?? 0
    this.#storeId = id
    return id
  }
}
