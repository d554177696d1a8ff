import { describe, expect, test } from 'vitest'
import type { Answer } from '../../src/core/approval/decide-answer.ts'
import { questionProcess } from '../../src/core/approval/question.ts'
import type { Pid } from '../../src/core/process/pid.ts'
import type { RegistrationRequest } from '../../src/core/process/register.ts'
import type { Kernel } from '../../src/kernel/kernel.ts'
import { addRule } from '../../src/kernel/policies.ts'
import { openSession } from '../../src/kernel/sessions.ts'
import { verifyAudit } from '../../src/kernel/verify-audit.ts'
import type { Store } from '../../src/store/contract.ts'
import { openPostgres } from '../../src/store/postgres/open.ts'
import { openSqlite } from '../../src/store/sqlite/open.ts'
import { simulatedClock } from '../../src/testing/simulated-clock.ts'
import { testEdges } from '../../src/testing/test-edges.ts'
import { testKernel } from '../../src/testing/test-kernel.ts'
import { newStores } from '../crash/new-stores.ts'
import { DyingStore } from '../dying-store.ts'
import { isLongRun } from '../long-run.ts'

const STORES = [
  ['SQLite', async () => openerOf(await newStores.SQLite())],
  ['PostgreSQL', async () => openerOf(await newStores.PostgreSQL())],
] as const

/** More than a run has commits. */
const MAX_COMMITS = 100

/** In `npm test` every second commit: the death after one leaves the same store as the death before the next. */
const STEP = isLongRun ? 1 : 2

describe.each(STORES)('%s', (_name, prepare) => {
  test.each(['before', 'after'] as const)(
    'a kernel that dies %s any commit between the question and the end begins each approved action once, and no other',
    { timeout: 600_000 },
    async (when) => {
      const open = await prepare()
      let deaths = 0
      for (let commit = 1; commit <= MAX_COMMITS; commit += STEP) {
        const run = new Run(open, `${when}${commit}`)
        const died = await run.untilDeath(commit, when)
        await run.goOn()
        await run.check()
        if (!died) break
        deaths += 1
      }
      expect(deaths).toBeGreaterThan(10)
      expect(deaths).toBeLessThan(MAX_COMMITS)
    },
  )
})

function openerOf(address: string): () => Promise<Store> {
  return () =>
    address.startsWith('postgres') ? openPostgres(address, { maxConnections: 2 }) : openSqlite(address)
}

const DEPLOY: RegistrationRequest = { kind: 'tool', spec: { tool: 'deploy' } }
const COUNTED: RegistrationRequest = { kind: 'tool', spec: { tool: 'counted' } }
const START = 1_700_000_000_000
const USES = 2

/** One scenario: it is cut off by the death of its kernel, and another kernel goes on with it. */
class Run {
  readonly #open: () => Promise<Store>
  readonly #asking: string
  readonly #counting: string
  readonly #pids: { readonly [name in 'approved' | 'denied' | 'expired']: Pid }
  readonly #counted: readonly Pid[]
  /** How often each process was really executed. */
  readonly #effects = new Map<Pid, number>()
  readonly #first: string
  #store: Store | undefined

  constructor(open: () => Promise<Store>, name: string) {
    const pidOf = (what: string) => `p_${`${what}${name}`.padEnd(12, 'z')}`
    this.#open = open
    this.#asking = `asking ${name}`
    this.#counting = `counting ${name}`
    this.#first = `k1 ${name}`
    this.#pids = { approved: pidOf('a'), denied: pidOf('d'), expired: pidOf('x') }
    this.#counted = [pidOf('1'), pidOf('2'), pidOf('3')]
  }

  /** False if the scenario ended before so many commits. */
  async untilDeath(commit: number, when: 'before' | 'after'): Promise<boolean> {
    const store = await this.#open()
    const dying = new DyingStore(store, { commit, when })
    const alive = this.#play(dying.store, this.#first, START).then(() => false)
    const died = await Promise.race([dying.death.then(() => true), alive])
    await store.close()
    return died
  }

  async goOn(): Promise<void> {
    this.#store = await this.#open()
    await this.#play(this.#store, `${this.#first} again`, START + 60_000)
  }

  async #play(store: Store, id: string, start: number): Promise<void> {
    const clock = simulatedClock(start)
    const { kernel, crash } = await testKernel(store, {
      id,
      clock,
      seed: id.length + start,
      prove: (holder) => (holder.id === id ? 'alive' : 'dead'),
      script: async ({ record: { pid } }) => {
        this.#effects.set(pid, (this.#effects.get(pid) ?? 0) + 1)
        return { status: 'completed' }
      },
    })
    const { edges } = kernel
    for (const session of [this.#asking, this.#counting]) await openSession(edges, 'host', session, null)
    const ask = { effect: 'ask', rights: ['execute'], resource: 'tool:deploy' } as const
    const allow = { effect: 'allow', rights: ['execute'], resource: 'tool:counted', uses: USES } as const
    // Refused if the first kernel has added it.
    await addRule(edges, 'host', `session:${this.#asking}`, () => ({ ...ask, id: 'ask' }))
    await addRule(edges, 'host', `session:${this.#counting}`, () => ({ ...allow, id: 'allow' }))
    const { approved, denied, expired } = this.#pids
    await this.#register(kernel, approved, DEPLOY)
    await this.#register(kernel, denied, DEPLOY)
    const question = { question: 'Really?', timeoutMs: 1_000 }
    const none = { choices: undefined, person: undefined, priority: undefined }
    await this.#register(kernel, expired, questionProcess({ ...question, ...none }))
    await this.#answer(kernel, approved, { type: 'approve', grant: 'once' })
    await this.#answer(kernel, denied, { type: 'deny' })
    for (const pid of this.#counted) await this.#register(kernel, pid, COUNTED, this.#counting)
    clock.advance(2_000)
    await kernel.approvals.expireDue()
    for (const pid of [...Object.values(this.#pids), ...this.#counted])
      if ((await store.ask({ ask: 'process', pid })) !== null) await kernel.waits.forEnd(pid, {})
    crash()
  }

  async #register(
    kernel: Kernel,
    pid: Pid,
    request: RegistrationRequest,
    session = this.#asking,
  ): Promise<void> {
    await kernel.register([{ request, pid, actor: `session:${session}` }]).catch((error: Error) => {
      if (!('code' in error) || error.code !== 'denied') throw error
    })
  }

  async #answer(kernel: Kernel, pid: Pid, answer: Answer): Promise<void> {
    const row = await kernel.edges.store.ask({ ask: 'process', pid })
    const id = row?.record.gate?.approval ?? ''
    expect((await kernel.approvals.answer({ id, by: 'human:ada', answer })).type).not.toBe('refused')
  }

  async check(): Promise<void> {
    const store = this.#store
    if (store === undefined) throw new Error('It did not go on')
    const { approved, denied, expired } = this.#pids
    const begun = await this.#outcomeOf(store, approved)
    // The first kernel may have died between its claim and its work: then no kernel knows what it did, and none repeats it.
    if (begun.status === 'completed') expect(this.#effects.get(approved)).toBe(1)
    else {
      expect(begun).toMatchObject({ status: 'abandoned', evidence: 'holder_dead' })
      expect(this.#effects.get(approved) ?? 0).toBeLessThanOrEqual(1)
    }
    expect((await this.#outcomeOf(store, denied)).reason).toBe('approval_denied')
    expect((await this.#outcomeOf(store, expired)).reason).toBe('approval_expired')
    expect([this.#effects.get(denied), this.#effects.get(expired)]).toEqual([undefined, undefined])
    expect(await this.#audited(store, approved)).toEqual(['asked', 'approved'])
    expect(await this.#audited(store, denied)).toEqual(['asked', 'refused'])
    expect(await this.#audited(store, expired)).toEqual(['expired'])
    await this.#checkUses(store)
    await this.#checkChain(store)
    await store.close()
  }

  async #outcomeOf(store: Store, pid: Pid) {
    const outcome = (await store.ask({ ask: 'process', pid }))?.record.outcome
    if (outcome === null || outcome === undefined) throw new Error(`${pid} has not ended`)
    return outcome
  }

  async #audited(store: Store, pid: Pid): Promise<readonly string[]> {
    const { items } = await store.ask({ ask: 'audit', target: `process:${pid}`, after: null, limit: 100 })
    return items.map(({ text }) => JSON.parse(text).decision as string)
  }

  /** As many registrations as there are uses, each spent once. */
  async #checkUses(store: Store): Promise<void> {
    const rows = await Promise.all(this.#counted.map((pid) => store.ask({ ask: 'process', pid })))
    expect(rows.filter((row) => row !== null)).toHaveLength(USES)
    expect(await store.ask({ ask: 'ruleUse', id: `session:${this.#counting} allow` })).toMatchObject({
      used: USES,
    })
    for (const pid of this.#counted) expect(this.#effects.get(pid) ?? 0).toBeLessThanOrEqual(1)
  }

  async #checkChain(store: Store): Promise<void> {
    const verified = await verifyAudit(testEdges(store), [])
    expect(verified.type).toBe('sound')
  }
}
