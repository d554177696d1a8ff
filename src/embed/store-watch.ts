import type { Clock } from '../core/clock.ts'
import { type ErrorCode, StoreError } from '../core/errors.ts'
import type { Blobs, Plan, Store } from '../store/contract.ts'

/** The first failed write since the last successful one. */
export interface FailedWrites {
  readonly since: number
  readonly message: string
  readonly remedy: string
}

/** Codes of a store that takes no writes. An unreadable or locked record concerns its own process alone. */
const UNWRITABLE: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'store_full',
  'store_read_only',
  'store_unavailable',
  'store_corrupt',
  'schema_too_new',
  'outcome_unknown',
])

/** Wraps a store, and knows whether it takes writes. */
export class StoreWatch {
  readonly store: Store
  readonly #watched: Store
  readonly #clock: Clock
  #failed: FailedWrites | null = null

  constructor(watched: Store, clock: Clock) {
    this.#watched = watched
    this.#clock = clock
    const { durability, locks, releaseSpace } = watched
    this.store = {
      durability,
      blobs: this.#watchedBlobs(),
      ...(locks === undefined ? {} : { locks }),
      ...(releaseSpace === undefined ? {} : { releaseSpace: () => releaseSpace.call(watched) }),
      ask: (question) => watched.ask(question),
      write: (plan) => this.#write(plan),
      onCommit: (listener) => watched.onCommit(listener),
      close: () => watched.close(),
    }
  }

  get failed(): FailedWrites | null {
    return this.#failed
  }

  /** Callers get the store's own promise, so watching adds no delay. */
  #write<Answer>(plan: Plan<Answer>): Promise<Answer> {
    if (this.#failed !== null) return this.#writeAfterFailure(plan)
    return this.#noting(this.#watched.write(plan))
  }

  #watchedBlobs(): Blobs {
    const { blobs } = this.#watched
    return {
      put: (hash, bytes) => this.#noting(blobs.put(hash, bytes)),
      get: (hash) => blobs.get(hash),
      sweep: (ageMs) => this.#noting(blobs.sweep(ageMs)),
    }
  }

  #noting<Answer>(written: Promise<Answer>): Promise<Answer> {
    written.catch((error: unknown) => this.#note(error))
    return written
  }

  /** A plan without changes does not prove that the store takes writes. */
  async #writeAfterFailure<Answer>(plan: Plan<Answer>): Promise<Answer> {
    let hasChanges = false
    try {
      const answer = await this.#watched.write(function* () {
        const verdict = yield* plan()
        hasChanges = verdict.changes.length > 0
        return verdict
      })
      if (hasChanges) this.#failed = null
      return answer
    } catch (error) {
      this.#note(error)
      throw error
    }
  }

  #note(error: unknown): void {
    if (!(error instanceof StoreError) || !UNWRITABLE.has(error.code)) return
    const { message, remedy } = error
    this.#failed = { since: this.#failed?.since ?? this.#clock.now(), message, remedy }
  }
}
