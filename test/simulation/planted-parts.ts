import type { WaitRef } from '../../src/core/process/intent.ts'
import type { Pid } from '../../src/core/process/pid.ts'
import type { ProcessRow } from '../../src/core/process/row.ts'
import type { Answered } from '../../src/kernel/await-answer.ts'
import type { Edges } from '../../src/kernel/edges.ts'
import type { Work } from '../../src/kernel/executor.ts'
import type { Feed } from '../../src/kernel/feed.ts'
import { Kernel } from '../../src/kernel/kernel.ts'
import { ProcessWaits } from '../../src/kernel/process-waits.ts'
import type { Waited, WaitOptions } from '../../src/kernel/wait.ts'
import type { Change, Commit, Question, Store } from '../../src/store/contract.ts'
import type { Transaction } from '../../src/store/group-commit.ts'
import { HOSTS } from './world.ts'

/** A kernel whose waits read before they subscribe. */
export class ReadsFirst extends Kernel {
  override readonly waits = new ReadingFirst(this.edges, this.feed)
}

class ReadingFirst extends ProcessWaits {
  readonly #edges: Edges
  readonly #feed: Feed

  constructor(edges: Edges, feed: Feed) {
    super(edges, feed)
    this.#edges = edges
    this.#feed = feed
  }

  override async forEnd(pid: Pid, { timeoutMs, signal }: WaitOptions): Promise<Waited<ProcessRow>> {
    const row = await this.#edges.store.ask({ ask: 'process', pid })
    if (row === null || row.record.outcome !== null) return super.forEnd(pid, {})
    // An end between the answer and the next line reaches no waiter.
    return new Promise((resolve, reject) => {
      const done = (waited: Waited<ProcessRow>) => {
        unsubscribe()
        resolve(waited)
      }
      const unsubscribe = this.#feed.on(pid, (events) => {
        if (events?.some(({ type }) => type === 'ended' || type === 'done') === false) return
        this.#edges.store.ask({ ask: 'process', pid }).then((ended) => {
          if (ended?.record.outcome != null) done({ type: 'done', value: ended })
        }, reject)
      })
      if (timeoutMs !== undefined) this.#edges.clock.after(timeoutMs, () => done({ type: 'timed_out' }))
      signal?.addEventListener('abort', () => done({ type: 'interrupted' }))
    })
  }
}

/** A kernel whose waits keep their slots. */
export class KeepsSlots extends Kernel {
  override readonly waits = new KeepingSlots(this.edges, this.feed)
}

class KeepingSlots extends ProcessWaits {
  override forEnd(pid: Pid, { waiter: _, ...options }: WaitOptions): Promise<Waited<ProcessRow>> {
    return super.forEnd(pid, options)
  }

  override forAnswer(work: Work, wait: WaitRef, until: number | null): Promise<Answered> {
    const keeping: Work = {
      record: work.record,
      signal: work.signal,
      fence: () => work.fence(),
      onRequest: (listener) => work.onRequest(listener),
      lendSlot: () => () => {},
    }
    return super.forAnswer(keeping, wait, until)
  }
}

/** Acknowledges a commit that did not happen, one time in twenty. */
export class Forgetful implements Transaction {
  readonly #inner: Transaction
  #commits = 0

  constructor(inner: Transaction) {
    this.#inner = inner
  }

  begin(): void {
    this.#inner.begin()
  }

  answer(question: Question): unknown {
    return this.#inner.answer(question)
  }

  apply(change: Change): void {
    this.#inner.apply(change)
  }

  commit(): Commit | null {
    this.#commits += 1
    if (this.#commits % 20 !== 0) return this.#inner.commit()
    this.#inner.rollback()
    return null
  }

  rollback(): void {
    this.#inner.rollback()
  }

  isBusy(error: unknown): boolean {
    return this.#inner.isBusy(error)
  }

  isPlanFault(error: unknown): boolean {
    return this.#inner.isPlanFault(error)
  }

  toStoreError(error: unknown, committing: boolean): unknown {
    return this.#inner.toStoreError(error, committing)
  }
}

/** Looks for work as if this kernel were on every host. */
export function seeingEverywhere(store: Store): Store {
  const here = HOSTS.map((host) => `host:${host}` as const)
  return {
    durability: store.durability,
    blobs: store.blobs,
    ask: (question) => store.ask(question.ask === 'claimable' ? { ...question, here } : question),
    write: (plan) => store.write(plan),
    onCommit: (listener) => store.onCommit(listener),
    close: () => store.close(),
  }
}
