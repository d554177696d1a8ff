import assert from 'node:assert/strict'
import { RefusedError } from '../../core/errors.ts'
import type { HolderRow, Proof } from '../../core/lease/holder.ts'
import type { Intent } from '../../core/process/intent.ts'
import type { Pid } from '../../core/process/pid.ts'
import type { RegistrationRequest } from '../../core/process/register.ts'
import type { ProcessRow } from '../../core/process/row.ts'
import type { RefusalCode } from '../../core/refusal.ts'
import { isRefusal } from '../../core/refusal.ts'
import type { Edges } from '../../kernel/edges.ts'
import { type Performed, perform } from '../../kernel/perform.ts'
import { type Registered, type Registering, register } from '../../kernel/register.ts'
import type { Store } from '../../store/contract.ts'
import { type SimulatedClock, simulatedClock } from '../simulated-clock.ts'
import { testEdges } from '../test-edges.ts'
import { holderNamed, type TestKernel, type TestKernelOptions, testKernel } from '../test-kernel.ts'
import { assertSound } from './sound.ts'

/** The separate database of one test. */
export interface StoreUnderTest {
  /** Opens another connection to the same data, as another process would. The suite closes it. */
  open(): Promise<Store>
  /** Removes the data, after every connection has been closed. */
  remove(): Promise<void>
}

export interface Suite {
  /** Declares a test: `test` of vitest or of `node:test`. */
  test(name: string, body: () => Promise<void>): void
  fresh(): Promise<StoreUnderTest>
}

/** Declares one behaviour that every store must show. */
export type Behaves = (name: string, body: (bench: Bench) => Promise<void>) => void

/** Runs each body over fresh data, and afterwards checks that the data is sound. */
export function behavesOn(suite: Suite): Behaves {
  return (name, body) => {
    suite.test(name, async () => {
      const data = await suite.fresh()
      const bench = await Bench.over(data)
      try {
        await body(bench)
        await bench.close()
        const look = await data.open()
        try {
          await assertSound(look)
        } finally {
          await look.close()
        }
        assert.deepEqual(bench.troubles, [], 'no kernel reported an error of its background work')
      } finally {
        await bench.close()
        await data.remove()
      }
    })
  }
}

type Answered<Name extends Performed['type']> = Extract<Performed, { type: Name }>
type DistributiveOmit<Union, Keys extends PropertyKey> = Union extends unknown ? Omit<Union, Keys> : never
/** An intent; actor and time default to the host and now. */
export type Asking = DistributiveOmit<Intent, 'actor' | 'at'> & Partial<Pick<Intent, 'actor' | 'at'>>

/** The data, clock and kernels of one test. */
export class Bench {
  readonly clock: SimulatedClock = simulatedClock()
  /** Errors of the kernels' background work. A test that provokes errors empties it. */
  readonly troubles: unknown[] = []
  /** The first connection, and its edges. */
  readonly store: Store
  readonly edges: Edges
  readonly #data: StoreUnderTest
  readonly #stores: Store[]
  readonly #kernels: TestKernel[] = []
  readonly #proofs = new Map<string, Proof>()
  #seed = 0

  private constructor(data: StoreUnderTest, store: Store) {
    this.#data = data
    this.store = store
    this.#stores = [store]
    this.edges = this.edgesOver(store)
  }

  static async over(data: StoreUnderTest): Promise<Bench> {
    return new Bench(data, await data.open())
  }

  /** Opens another connection, as another OS process would. */
  async open(): Promise<Store> {
    const store = await this.#data.open()
    this.#stores.push(store)
    return store
  }

  edgesOver(store: Store): Edges {
    this.#seed += 1
    return testEdges(store, { clock: this.clock, seed: this.#seed, prove: (holder) => this.#prove(holder) })
  }

  /** Starts a kernel, by default over a connection of its own. */
  async kernel(options: TestKernelOptions, over?: Store): Promise<TestKernel> {
    const store = over ?? (await this.open())
    this.#seed += 1
    const started = await testKernel(store, {
      clock: this.clock,
      seed: this.#seed,
      prove: (holder) => this.#prove(holder),
      onTrouble: (error, doing) => this.troubles.push({ error, doing }),
      ...options,
    })
    this.#kernels.push(started)
    return started
  }

  /** Kills a kernel, and makes its death provable. */
  kill(victim: TestKernel): void {
    victim.crash()
    this.proof(victim.id, 'dead')
  }

  /** Sets the answer of `prove` about a holder. */
  proof(holder: string, proof: Proof): void {
    this.#proofs.set(holder, proof)
  }

  /** Writes a holder's row that is valid for `ttlMs` by the store's clock. */
  async announce(holder: string, ttlMs: number): Promise<void> {
    await this.store.write(function* () {
      yield []
      return { answer: undefined, changes: [{ type: 'holder', holder: holderNamed(holder), ttlMs }] }
    })
  }

  /** Registers in one transaction, and returns a refusal instead of throwing it. */
  async tryRegister(registering: readonly Partial<Registering>[], edges: Edges = this.edges) {
    const asked = registering.map((one) => ({ request: OUTSIDE, actor: 'host', ...one }) as const)
    return register(edges, asked, 'no-environment')
  }

  async register(
    request: RegistrationRequest = OUTSIDE,
    given: Partial<Registering> = {},
    edges: Edges = this.edges,
  ): Promise<ProcessRow> {
    const [registered] = accepted(await this.tryRegister([{ ...given, request }], edges))
    assert.equal(registered?.type, 'registered')
    return registered.row
  }

  async perform(asking: Asking, edges: Edges = this.edges): Promise<Performed> {
    return perform(edges, { actor: 'host', at: this.clock.now(), ...asking } as Intent)
  }

  /** Performs an intent whose answer must be of this type. */
  async performed<Name extends Performed['type']>(
    type: Name,
    asking: Asking,
    edges: Edges = this.edges,
  ): Promise<Answered<Name>> {
    const answer = await this.perform(asking, edges)
    assert.equal(answer.type, type, `${asking.type} of ${asking.pid}: ${JSON.stringify(answer)}`)
    return answer as Answered<Name>
  }

  /** Performs an intent that must be refused with this code. */
  async refused(code: RefusalCode, asking: Asking, edges: Edges = this.edges): Promise<void> {
    const { refusal } = await this.performed('refused', asking, edges)
    assert.equal(refusal.code, code)
  }

  async row(pid: Pid): Promise<ProcessRow> {
    const row = await this.store.ask({ ask: 'process', pid })
    assert.ok(row, `${pid} exists`)
    return row
  }

  async events(pid: Pid) {
    return this.store.ask({ ask: 'events', pid, after: 0, limit: 10_000 })
  }

  async eventTypes(pid: Pid): Promise<string[]> {
    return (await this.events(pid)).map(({ type }) => type)
  }

  async close(): Promise<void> {
    for (const kernel of this.#kernels.splice(0)) kernel.crash()
    for (const store of this.#stores.splice(0)) await store.close()
  }

  #prove(holder: HolderRow): Proof {
    return this.#proofs.get(holder.id) ?? 'unknown'
  }
}

/** The smallest request: a process that runs outside Reeve. */
export const OUTSIDE: RegistrationRequest = { kind: 'external', spec: { description: 'something outside' } }
export const TOOL: RegistrationRequest = { kind: 'tool', spec: { tool: 'work' } }
export const RERUNNABLE: RegistrationRequest = { ...TOOL, recovery: 'rerunnable' }

/** A pid that is easy to recognise in a failure. */
export function pidOf(text: string): Pid {
  return `p_${text.padEnd(12, 'z')}`
}

export function accepted(registered: Awaited<ReturnType<typeof register>>): readonly Registered[] {
  if (isRefusal(registered)) assert.fail(`${registered.code}: ${registered.message}`)
  return registered
}

export function refusalOf(registered: Awaited<ReturnType<typeof register>>): RefusalCode {
  if (!isRefusal(registered)) assert.fail('The registration was accepted')
  return registered.code
}

/** The code that a promise is refused with. */
export async function codeOf(promise: Promise<unknown>): Promise<string> {
  try {
    await promise
  } catch (error) {
    if (error instanceof RefusedError) return error.code
    throw error
  }
  return 'accepted'
}

/** The numbers from 0 to `count` - 1. */
export function times(count: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => index)
}

/** Runs the body repeatedly, several times at once: that makes races likelier, and the suite faster. */
export async function repeat(count: number, body: (round: number) => Promise<void>): Promise<void> {
  for (let from = 0; from < count; from += AT_ONCE)
    await Promise.all(times(Math.min(AT_ONCE, count - from)).map((index) => body(from + index)))
}
const AT_ONCE = 10
