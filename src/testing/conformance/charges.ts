import assert from 'node:assert/strict'
import { accountOf } from '../../core/allowance/account.ts'
import { isRefusal } from '../../core/refusal.ts'
import { charge } from '../../kernel/charge.ts'
import { openSession } from '../../kernel/sessions.ts'
import { type Behaves, OUTSIDE, pidOf, RERUNNABLE, repeat, times } from './bench.ts'
import { account, chargeBefore, complete, registerChild } from './charging.ts'
import { snapshotOf } from './sound.ts'

const [A, B] = [pidOf('a'), pidOf('b')]

/** Charges before and after the work, and the limits that they meet. */
export function charges(behaves: Behaves): void {
  behaves(
    'a charge changes one allowance, and a charge before the work is refused if it exceeds it',
    async (bench) => {
      await bench.register({ ...OUTSIDE, allowance: { toolCalls: 20 } }, { pid: A })
      await registerChild(bench, B, A, { toolCalls: 5 })
      const parent = await account(bench, A)
      await chargeBefore(bench, B, { toolCalls: 4 })
      assert.deepEqual(await account(bench, A), parent)
      const before = await snapshotOf(bench.store)
      const refused = await charge(bench.edges, 'k', {
        pid: B,
        amounts: { toolCalls: 2 },
        done: false,
        actor: 'host',
      })
      assert.ok(isRefusal(refused))
      assert.equal(refused.code, 'limit_exceeded')
      assert.deepEqual(refused.details, { limit: 'toolCalls', left: 1, asked: 2 })
      assert.deepEqual(await snapshotOf(bench.store), before)
      await chargeBefore(bench, B, { toolCalls: 1, tokensIn: 1_000_000 })
      assert.deepEqual((await account(bench, B)).used, { toolCalls: 5, tokensIn: 1_000_000 })
    },
  )

  behaves('an allowance is charged once per replay key, also over several connections', async (bench) => {
    await bench.register({ ...OUTSIDE, allowance: { toolCalls: 100 } }, { pid: A })
    const other = bench.edgesOver(await bench.open())
    const charging = { pid: A, amounts: { toolCalls: 1 }, done: false, actor: 'host' } as const
    for (const replayKey of times(40).map((n) => `call-${n}`)) {
      const both = [bench.edges, other].map((edges) => charge(edges, 'k', { ...charging, replayKey }))
      for (const answer of await Promise.all(both)) assert.ok(!isRefusal(answer), JSON.stringify(answer))
    }
    assert.deepEqual((await account(bench, A)).used, { toolCalls: 40 })
    const conflict = { ...charging, amounts: { toolCalls: 2 }, replayKey: 'call-39' }
    const refused = await charge(bench.edges, 'k', conflict)
    assert.ok(isRefusal(refused) && refused.code === 'replay_conflict')
    assert.deepEqual((await account(bench, A)).used, { toolCalls: 40 })
  })

  behaves(
    'a charge after the work that exceeds the allowance cancels the process and names the limit',
    async (bench) => {
      await bench.register({ ...RERUNNABLE, allowance: { tokensOut: 100 } }, { pid: A })
      const answer = await charge(bench.edges, 'k', {
        pid: A,
        amounts: { tokensOut: 101 },
        done: true,
        actor: 'host',
      })
      assert.ok(!isRefusal(answer))
      const { record } = await bench.row(A)
      assert.equal(record.outcome?.status, 'cancelled')
      assert.equal(record.outcome?.reason, 'limit:tokensOut')
      assert.deepEqual((await account(bench, A)).used, { tokensOut: 101 })
      const late = await charge(bench.edges, 'k', {
        pid: A,
        amounts: { tokensOut: 1 },
        done: true,
        actor: 'host',
      })
      assert.ok(isRefusal(late) && late.code === 'already_ended')
    },
  )

  behaves(
    'the charge that brings an allowance near its limit makes one event and one notice, and other charges make none',
    async (bench) => {
      await openSession(bench.edges, 'host', 's1', null)
      const request = { ...OUTSIDE, owner: { session: 's1' }, allowance: { toolCalls: 100, cost: 1 } }
      await bench.register(request, { pid: A })
      await registerChild(bench, B, A, { toolCalls: 60, cost: 0.1 })
      const told = async () =>
        (await bench.store.ask({ ask: 'notices', scope: 'session:s1', after: 0, limit: 9 })).map(
          ({ kind, payload }) => ({ kind, payload }),
        )
      const events = (await bench.events(A)).length
      await chargeBefore(bench, A, { toolCalls: 19, tokensIn: 9 })
      await chargeBefore(bench, A, { cost: 0.5 })
      assert.deepEqual(await told(), [])
      assert.equal((await bench.events(A)).length, events)
      const before = await snapshotOf(bench.store)
      const refused = await charge(bench.edges, 'k', {
        pid: A,
        amounts: { toolCalls: 1, cost: 2 },
        done: false,
        actor: 'host',
      })
      assert.ok(isRefusal(refused))
      assert.deepEqual(await snapshotOf(bench.store), before)
      await chargeBefore(bench, A, { toolCalls: 1 })
      const near = {
        kind: 'limit_warning',
        payload: {
          label: 'something outside',
          name: null,
          limit: 'toolCalls',
          given: 100,
          spent: 20,
          carved: 60,
        },
      }
      assert.deepEqual(await told(), [near])
      await chargeBefore(bench, A, { toolCalls: 1 })
      // The use falls below the mark, and rises over it again.
      await complete(bench, B)
      await chargeBefore(bench, A, { toolCalls: 70 })
      const others = (await told()).filter(({ kind }) => kind === 'limit_warning')
      assert.deepEqual(others, [near])
      assert.deepEqual((await bench.events(A)).filter(({ type }) => type === 'limit_near').length, 1)
      // Charges after the work, over several connections at once.
      const over = bench.edgesOver(await bench.open())
      await repeat(6, async (round) => {
        const edges = round % 2 === 0 ? bench.edges : over
        const answer = await charge(edges, 'k', {
          pid: A,
          amounts: { cost: 0.07 },
          done: true,
          actor: 'host',
        })
        assert.ok(!isRefusal(answer))
      })
      const costs = (await told()).filter(({ payload }) => Object(payload).limit === 'cost')
      assert.equal(costs.length, 1)
      assert.equal((await bench.row(A)).record.outcome, null)
    },
  )

  behaves('a process without an allowance has no limit, and its use is counted', async (bench) => {
    await bench.register(OUTSIDE, { pid: A })
    assert.equal(await bench.store.ask({ ask: 'account', id: accountOf(A) }), null)
    await chargeBefore(bench, A, { tokensIn: 10_000_000 })
    await chargeBefore(bench, A, { tokensIn: 1 })
    assert.deepEqual((await account(bench, A)).used, { tokensIn: 10_000_001 })
  })
}
