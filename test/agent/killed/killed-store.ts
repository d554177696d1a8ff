import type { Plan, Store } from '../../../src/store/contract.ts'
import type { Death } from '../../dying-store.ts'

/** The store of a program that is killed with one of its writes. */
export function killedStore(inner: Store, death: Death | null): { readonly store: Store; writes(): number } {
  const { durability, locks, blobs } = inner
  let writes = 0
  const store: Store = {
    durability,
    ...(locks === undefined ? {} : { locks }),
    blobs,
    ask: (question) => inner.ask(question),
    async write<Answer>(plan: Plan<Answer>): Promise<Answer> {
      writes += 1
      const isLast = writes === death?.commit
      if (isLast && death?.when === 'before') killSelf()
      const answer = await inner.write(plan)
      if (isLast) killSelf()
      return answer
    },
    onCommit: (listener) => inner.onCommit(listener),
    close: () => inner.close(),
  }
  return { store, writes: () => writes }
}

/** `kill -9`: nothing of this program runs after it. */
export function killSelf(): never {
  process.kill(process.pid, 'SIGKILL')
  throw new Error('SIGKILL was not delivered')
}
