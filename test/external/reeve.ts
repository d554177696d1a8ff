import { type ProcessRecord, type Reeve, ReeveError } from 'reeve'
import { expect } from 'vitest'
import type { Holder } from '../../src/core/lease/holder.ts'
import type { StopHow } from '../../src/core/process/record.ts'
import type { TrackedProcess } from '../../src/core/process/tracked.ts'
import { isRefusal } from '../../src/core/refusal.ts'
import { nodeEdges } from '../../src/embed/node-edges.ts'
import { renew, retire } from '../../src/kernel/holders.ts'
import { perform } from '../../src/kernel/perform.ts'
import { register } from '../../src/kernel/register.ts'
import { openSqlite } from '../../src/store/sqlite/open.ts'

export async function endedRecord(reeve: Reeve, pid: string): Promise<ProcessRecord> {
  const waited = await reeve.wait({ pid, timeoutMs: 60_000 })
  expect(waited.type).toBe('ended')
  return (await reeve.show({ pid })) as ProcessRecord
}

/** When the stop that was requested has reached the process. */
export async function deliveredTo(reeve: Reeve, pid: string): Promise<void> {
  const isDelivered = async () => {
    const { stopRequest, outcome } = await reeve.show({ pid })
    return stopRequest?.deliveredAt !== undefined || outcome !== null
  }
  await expect.poll(isDelivered, { timeout: 45_000 }).toBe(true)
}

export async function codeOf(call: Promise<unknown>): Promise<string> {
  const error = await call.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  return error instanceof ReeveError ? error.code : `no refusal: ${String(error)}`
}

/**
 * Writes to a store as a kernel did that crashed right after the commit: the consequences of the write never happen.
 * No kernel may have the store open.
 */
export class Crashed {
  readonly #store: string

  constructor(store: string) {
    this.#store = store
  }

  /** Registers a tracked process under any identity. */
  async track(process: TrackedProcess): Promise<string> {
    return this.#with(async (edges) => {
      const request = { kind: 'external', spec: { description: 'x', process: { ...process } } } as const
      const registered = await register(edges, [{ request, actor: 'host' }], '')
      if (isRefusal(registered)) throw new Error(registered.message)
      const [one] = registered
      if (one === undefined || one.type === 'refused') throw new Error('It was refused.')
      return one.row.record.pid
    })
  }

  /** Writes the row of a keeper that lives on another boot, for as long as it is not removed. Answers its id. */
  async announceKeeperOn(boot: string): Promise<string> {
    const id = 'keeper-elsewhere'
    const identity = { host: 'twin', boot, pidNamespace: 'pid:[1]', osPid: 4_000_000, startTime: '1' }
    const holder: Holder = { id, role: 'keeper', ...identity, incarnation: 'one', serves: [] }
    await this.#with((edges) => renew(edges, holder, { renewMs: 1_000, ttlMs: 24 * 60 * 60 * 1_000 }))
    return id
  }

  /** Also while a kernel has the store open. */
  async removeHolder(id: string): Promise<void> {
    await this.#with((edges) => retire(edges, id))
  }

  async stop(pid: string, how: StopHow): Promise<void> {
    const stop = { type: 'stop', how, reason: 'test', cause: null, replayKey: `test:${how}` } as const
    await this.#perform({ ...stop, pid, actor: 'host', at: Date.now() })
  }

  async pause(pid: string): Promise<void> {
    await this.#perform({ type: 'pause', pid, actor: 'host', at: Date.now() })
  }

  #perform(intent: Parameters<typeof perform>[1]): Promise<void> {
    return this.#with(async (edges) => expect((await perform(edges, intent)).type).toBe('appended'))
  }

  async #with<Value>(act: (edges: ReturnType<typeof nodeEdges>) => Promise<Value>): Promise<Value> {
    const store = await openSqlite(this.#store)
    try {
      return await act(nodeEdges(store, () => {}))
    } finally {
      await store.close()
    }
  }
}
