import { type EmbedOptions, StoreError } from 'reeve'
import { openMemory } from 'reeve/testing'
import { onTestFinished } from 'vitest'
import type { Store } from '../../src/store/contract.ts'
import { MemoryTables } from '../../src/store/memory/open.ts'
import { openPostgres } from '../../src/store/postgres/open.ts'
import { openSqlite } from '../../src/store/sqlite/open.ts'
import type { Place } from './bed.ts'

/** A real store that can be taken away for a while, and whose answers can be kept back. */
export class UpsetStore {
  readonly #inner: Store
  /** Which acts find the store away. */
  away: 'nothing' | 'writes' | 'all' = 'nothing'
  /** How many acts have found it away. */
  refused = 0
  #onRefused = () => {}
  /** Waited for after each write, before its answer is given. */
  answered: () => Promise<unknown> = async () => {}

  constructor(inner: Store) {
    this.#inner = inner
  }

  static async at(place: Place): Promise<UpsetStore> {
    const inner = await open(place)
    onTestFinished(() => inner.close())
    return new UpsetStore(inner)
  }

  get store(): Exclude<EmbedOptions['store'], string> {
    const inner = this.#inner
    const ask: Store['ask'] = async (question) => {
      if (this.away === 'all') throw this.#trouble()
      return inner.ask(question)
    }
    const write: Store['write'] = async (plan) => {
      if (this.away !== 'nothing') throw this.#trouble()
      const answer = await inner.write(plan)
      await this.answered()
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

  /** The store itself, which is never away. */
  get inner(): Store {
    return this.#inner
  }

  /** When so many acts more have found it away. */
  async refuses(more: number): Promise<void> {
    const goal = this.refused + more
    while (this.refused < goal)
      await new Promise<void>((resolve) => {
        this.#onRefused = resolve
      })
  }

  #trouble(): StoreError {
    this.refused += 1
    this.#onRefused()
    return new StoreError('store_unavailable', 'The disk is away.', 'Wait.')
  }
}

async function open(place: Place): Promise<Store> {
  if (place instanceof MemoryTables) return openMemory({ shared: place })
  if (typeof place !== 'string') return place
  return place.startsWith('postgres') ? openPostgres(place) : openSqlite(place)
}
