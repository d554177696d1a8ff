import type { AuditAnchors } from '../actions/audit.ts'
import type { NotedAnchor } from '../core/audit/anchors.ts'
import type { AuditStart } from '../core/audit/chain.ts'
import type { Cancel, Clock } from '../core/clock.ts'
import { isSignedStart } from '../kernel/audit-start.ts'
import type { Edges } from '../kernel/edges.ts'
import type { Store } from '../store/contract.ts'

/** Keeps anchors, and the key that signs starts, outside of the store. A home may have used several stores: each has an id. */
export interface AnchorLog {
  /** In order of position. */
  read(store: string): readonly NotedAnchor[]
  append(store: string, anchor: NotedAnchor): void
  /** Null if there is none yet. */
  readKey(): string | null
  createKey(): string
}

interface AnchoringParts {
  readonly log: AnchorLog
  readonly store: Store
  readonly clock: Clock
  readonly hash: Edges['hash']
  readonly sign: Edges['sign']
  readonly sameText: Edges['sameText']
  readonly onTrouble: Edges['onTrouble']
}

const MIN_INTERVAL_MS = 1_000

/**
 * Notes the end of the audit's chain, and the start of a pruned one, outside of the store: soon after entries were appended, at most
 * once a second.
 */
export class Anchoring implements AuditAnchors {
  readonly #parts: AnchoringParts
  #storeId: string | undefined
  #key: string | null = null
  /** The position of the last anchor. */
  #noted = 0
  /** The position of the last start. */
  #notedStart = 0
  #notedAt = Number.NEGATIVE_INFINITY
  #timer: Cancel | undefined
  #noting: Promise<void> = Promise.resolve()
  #isClosed = false

  constructor(parts: AnchoringParts) {
    this.#parts = parts
  }

  get key(): string | null {
    return this.#key
  }

  /**
   * Before anything is signed. A home that has no anchor of this store yet, or no key, cannot know who shortened the chain before: it
   * accepts the start that it finds. The key is created after that, so that a crash in between changes nothing.
   */
  async begin(): Promise<void> {
    const { log, store } = this.#parts
    const id = await this.#store()
    const key = log.readKey()
    if (key === null || log.read(id).length === 0) {
      const { start } = await store.ask({ ask: 'auditTail' })
      if (start !== null) this.#noteStart(id, start)
    }
    this.#key = key ?? log.createKey()
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

  async anchors(): Promise<readonly NotedAnchor[]> {
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
      const { position, hash, start } = await store.ask({ ask: 'auditTail' })
      if (start !== null && start.position > this.#notedStart && (await this.#isOurs(start)))
        this.#noteStart(id, start)
      // A chain that became shorter was cut: its anchors stay as they are, and prove it.
      if (position <= this.#noted) return
      log.append(id, { position, hash })
      this.#noted = position
    }
    this.#noting = this.#noting
      .then(noteNow)
      .catch((error: unknown) => onTrouble(error, 'noting the end of the audit'))
  }

  #isOurs(start: AuditStart): Promise<boolean> {
    return isSignedStart({ ...this.#parts, auditKey: () => this.#key }, start, [])
  }

  #noteStart(id: string, { position, hash }: AuditStart): void {
    this.#parts.log.append(id, { position, hash, isStart: true })
    this.#notedStart = position
  }

  /** Derived from the secret of the store, which it does not tell. */
  async #store(): Promise<string> {
    if (this.#storeId !== undefined) return this.#storeId
    const { store, log, hash } = this.#parts
    const id = hash(`audit of ${await store.ask({ ask: 'secret' })}`).slice(0, 16)
    const known = log.read(id)
    this.#noted = known.at(-1)?.position ?? 0
    this.#notedStart = known.findLast(({ isStart }) => isStart)?.position ?? 0
    this.#storeId = id
    return id
  }
}
