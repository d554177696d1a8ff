import { type EmbedOptions, StoreError } from 'reeve'
import { openMemory } from 'reeve/testing'
import { onTestFinished } from 'vitest'
import type { Store } from '../../src/store/contract.ts'
import { MemoryTables } from '../../src/store/memory/open.ts'
import { openPostgres } from '../../src/store/postgres/open.ts'
import { openSqlite } from '../../src/store/sqlite/open.ts'
import type { StoreAddress } from './workflow-fixture.ts'

/** A real store that can be made unavailable for a while, and whose answers can be delayed. */
export class UnreliableStore {
  readonly #inner: Store
  /** Which requests fail because the store is unavailable. */
  unavailableFor: 'nothing' | 'writes' | 'all' = 'nothing'
  /** The number of requests that have failed. */
  failures = 0
  #onFailure = () => {}
  /** Awaited after each write, before its answer is returned. */
  beforeAnswer: () => Promise<unknown> = async () => {}

  constructor(inner: Store) {
    this.#inner = inner
  }

  static async at(address: StoreAddress): Promise<UnreliableStore> {
    const inner = await open(address)
    onTestFinished(() => inner.close())
    return new UnreliableStore(inner)
  }

  get store(): Exclude<EmbedOptions['store'], string> {
    const inner = this.#inner
    const ask: Store['ask'] = async (question) => {
      if (this.unavailableFor === 'all') throw this.#outage()
      return inner.ask(question)
    }
    const write: Store['write'] = async (plan) => {
      if (this.unavailableFor !== 'nothing') throw this.#outage()
      const answer = await inner.write(plan)
      await this.beforeAnswer()
      return answer
    }
    return new Proxy(inner, {
      get(target, name) {
        if (name === 'ask') return ask
        if (name === 'write') return write
        const value: unknown = Reflect.get(target, name)
        return typeof value === 'function' ? value.bind(target) : value
      },
    })
  }

  /** The store itself, which is always available. */
  get inner(): Store {
    return this.#inner
  }

  /** Resolves when this many more requests have failed. */
  async failsFor(more: number): Promise<void> {
    const goal = this.failures + more
    while (this.failures < goal)
      await new Promise<void>((resolve) => {
        this.#onFailure = resolve
      })
  }

  #outage(): StoreError {
    this.failures += 1
    this.#onFailure()
    return new StoreError('store_unavailable', 'The disk is unavailable.', 'Wait.')
  }
}

async function open(address: StoreAddress): Promise<Store> {
  if (address instanceof MemoryTables) return openMemory({ shared: address })
  if (typeof address !== 'string') return address
  return address.startsWith('postgres') ? openPostgres(address) : openSqlite(address)
}
