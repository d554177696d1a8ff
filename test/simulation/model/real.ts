import { hash } from 'node:crypto'
import { ownerPolicy } from '../../../src/core/authority/authorize.ts'
import { FLOOD_LIMITS } from '../../../src/core/inbox/flood.ts'
import type { Intent } from '../../../src/core/process/intent.ts'
import { type Pid, pidFrom } from '../../../src/core/process/pid.ts'
import type { ProcessRow } from '../../../src/core/process/row.ts'
import { claimAndStart } from '../../../src/kernel/claim.ts'
import type { Edges } from '../../../src/kernel/edges.ts'
import { perform } from '../../../src/kernel/perform.ts'
import { register } from '../../../src/kernel/register.ts'
import type { Plan, Question, Store } from '../../../src/store/contract.ts'
import { openSqlite } from '../../../src/store/sqlite/open.ts'

export const MAX_PENDING = 3

type Unasked<One> = One extends unknown ? Omit<One, 'pid' | 'actor' | 'at'> : never

/** One process over a real SQLite store. Every answer is one word: the result of the request. */
export class Real {
  readonly pid: Pid
  readonly #edges: Edges
  #at = 1_700_000_000_000

  private constructor(edges: Edges, pid: Pid) {
    this.#edges = edges
    this.pid = pid
  }

  /** `alter` wraps plans on their way to the store: for a bug that the model must find. */
  static async over(file: string, alter: typeof unaltered = unaltered): Promise<Real> {
    const store = await openSqlite(file, { soon: queueMicrotask, watch: () => () => {} })
    const altered: Store = Object.create(store, {
      ask: { value: (question: Question) => store.ask(question) },
      write: { value: <Answer>(plan: Plan<Answer>) => store.write(alter(plan)) },
      close: { value: () => store.close() },
    }) as Store
    const real = new Real(edgesOver(altered), 'p_000000000001')
    const request = {
      kind: 'agent',
      spec: {},
      eventTypes: { note: { schema: {} } },
      limits: { attempts: 1_000 },
    } as const
    await register(real.#edges, [{ request, actor: 'host', pid: real.pid }], '')
    return real
  }

  close(): Promise<void> {
    return this.#edges.store.close()
  }

  /** `appended`, `replayed`, `kept`, or the code of the refusal. */
  async ask(intent: Unasked<Intent>): Promise<string> {
    this.#at += 1
    const whole = { ...intent, pid: this.pid, actor: 'host', at: this.#at } as Intent
    const performed = await perform(this.#edges, whole)
    return performed.type === 'refused' ? performed.refusal.code : performed.type
  }

  async claim(holder: string): Promise<boolean> {
    return (await claimAndStart(this.#edges, [this.pid], holder)).length === 1
  }

  async row(): Promise<ProcessRow> {
    const row = await this.#edges.store.ask({ ask: 'process', pid: this.pid })
    if (row === null) throw new Error('The process is gone')
    return row
  }

  events() {
    return this.#edges.store.ask({ ask: 'events', pid: this.pid, after: 0, limit: 10_000 })
  }
}

function unaltered<Answer>(plan: Plan<Answer>): Plan<Answer> {
  return plan
}

function edgesOver(store: Store): Edges {
  const nothing = () => {
    throw new Error('The model needs no such thing')
  }
  return {
    store,
    clock: { now: () => 1_800_000_000_000, after: nothing },
    random: () => 0.5,
    newPid: nothing,
    newId: nothing,
    pidOf: () => pidFrom(new Uint8Array(12)),
    pidForKey: () => pidFrom(new Uint8Array(12)),
    hash: (text) => hash('sha256', text),
    sign: nothing,
    sameText: nothing,
    prove: () => 'unknown',
    authorize: ownerPolicy,
    rules: {
      validate: () => undefined,
      maxPayloadBytes: 1_000,
      mask: (text) => text,
      maxPendingSignals: MAX_PENDING,
      flood: FLOOD_LIMITS,
    },
    onTrouble: nothing,
  }
}
