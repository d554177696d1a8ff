import type { HolderLocks, Plan, Store } from '../src/store/contract.ts'

export interface Death {
  /** Counts the writes of this kernel, from 1. */
  readonly commit: number
  /** `before` the write is sent, or `after` it is committed and before the kernel learns of it. */
  readonly when: 'before' | 'after'
}

/**
 * The store of a kernel that dies with one of its writes, as by `kill -9`: afterwards it asks, writes and hears nothing. Several such kernels
 * may follow one another over one store.
 */
export class DyingStore {
  readonly store: Store
  /** Resolves with the death. */
  readonly death: Promise<void>
  readonly #inner: Store
  readonly #at: Death | null
  readonly #silence = new Promise<never>(() => {})
  readonly #die: () => void
  #writes = 0
  #isDead = false

  /** `locks`: who lives, if the kernels prove their deaths by locks. */
  constructor(inner: Store, at: Death | null, locks?: LivingHolders) {
    this.#inner = inner
    this.#at = at
    const { promise, resolve } = Promise.withResolvers<void>()
    const held = new Set<string>()
    const listeners = new Set<() => void>()
    this.death = promise
    this.#die = () => {
      this.#isDead = true
      for (const id of held) locks?.delete(id)
      for (const stop of listeners) stop()
      resolve()
    }
    const { durability, blobs } = inner
    this.store = {
      durability,
      ...(locks === undefined ? {} : { locks: locksOver(locks, held) }),
      blobs: {
        put: (hash, bytes) => this.#whileAlive(() => blobs.put(hash, bytes)),
        get: (hash) => this.#whileAlive(() => blobs.get(hash)),
        sweep: (ageMs) => this.#whileAlive(() => blobs.sweep(ageMs)),
      },
      ask: (question) => this.#whileAlive(() => inner.ask(question)),
      write: (plan) => this.#write(plan),
      onCommit: (listener) => {
        const stop = inner.onCommit((committed) => this.#isDead || listener(committed))
        listeners.add(stop)
        return stop
      },
      close: () => inner.close(),
    }
  }

  get isDead(): boolean {
    return this.#isDead
  }

  get writes(): number {
    return this.#writes
  }

  /** Dies now, between two writes. */
  die(): void {
    this.#die()
  }

  async #whileAlive<Answer>(act: () => Promise<Answer>): Promise<Answer> {
    if (this.#isDead) return this.#silence
    const answer = await act()
    return this.#isDead ? this.#silence : answer
  }

  async #write<Answer>(plan: Plan<Answer>): Promise<Answer> {
    if (this.#isDead) return this.#silence
    this.#writes += 1
    const isLast = this.#writes === this.#at?.commit
    if (isLast && this.#at?.when === 'before') {
      this.#die()
      return this.#silence
    }
    const answer = await this.#inner.write(plan)
    if (isLast) this.#die()
    return this.#isDead ? this.#silence : answer
  }
}

/** The ids of kernels that live. */
export type LivingHolders = Set<string>

function locksOver(living: LivingHolders, held: Set<string>): HolderLocks {
  return {
    hold(id) {
      living.add(id)
      held.add(id)
      return () => living.delete(id)
    },
    prove: (id) => (living.has(id) ? 'alive' : 'dead'),
    clear: () => undefined,
  }
}
