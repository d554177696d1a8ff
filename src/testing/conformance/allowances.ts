import assert from 'node:assert/strict'
import { remainderOf, sessionAccountOf, spentOf } from '../../core/allowance/account.ts'
import { isRefusal } from '../../core/refusal.ts'
import { sessionCarried } from '../../kernel/carry.ts'
import { charge } from '../../kernel/charge.ts'
import { markDeleted, openSession } from '../../kernel/sessions.ts'
import { accepted, type Behaves, codeOf, OUTSIDE, pidOf, refusalOf, repeat, times } from './bench.ts'
import { account, chargeBefore, complete, registerChild } from './charging.ts'
import { snapshotBesidesAudit, snapshotOf } from './sound.ts'

const [A, B, C, D] = [pidOf('a'), pidOf('b'), pidOf('c'), pidOf('d')]

/** Allowances are carved at registration, and return at the end. */
export function allowances(behaves: Behaves): void {
  behaves(
    'an allowance is carved from the parent’s in the transaction of the registration',
    async (bench) => {
      await bench.register({ ...OUTSIDE, allowance: { toolCalls: 100, children: 3 } }, { pid: A })
      await registerChild(bench, B, A, {})
      assert.deepEqual((await account(bench, B)).given, { toolCalls: 50, children: 1 })
      assert.deepEqual(remainderOf(await account(bench, A)), { toolCalls: 50, children: 1 })
      assert.deepEqual((await bench.row(B)).record.limits.allowance, { toolCalls: 50, children: 1 })
      const before = await snapshotOf(bench.store)
      const tooMuch = { ...OUTSIDE, parent: A, allowance: { toolCalls: 51 } }
      assert.equal(refusalOf(await bench.tryRegister([{ pid: C, request: tooMuch }])), 'limit_exceeded')
      const both = [
        { pid: C, request: { ...OUTSIDE, parent: A } },
        { pid: D, request: tooMuch },
      ]
      assert.equal(refusalOf(await bench.tryRegister(both)), 'limit_exceeded')
      assert.deepEqual(await snapshotOf(bench.store), before)
    },
  )

  behaves('a repeated registration carves no second allowance', async (bench) => {
    await bench.register({ ...OUTSIDE, allowance: { toolCalls: 100 } }, { pid: A })
    await registerChild(bench, B, A, undefined)
    await repeat(5, async () => {
      accepted(await bench.tryRegister([{ pid: B, request: { ...OUTSIDE, parent: A } }]))
    })
    assert.deepEqual(remainderOf(await account(bench, A)), { toolCalls: 50 })
  })

  behaves(
    'the unused rest of an allowance returns with the end, and the used part stays counted',
    async (bench) => {
      await bench.register({ ...OUTSIDE, allowance: { toolCalls: 20, cost: 1 } }, { pid: A })
      await registerChild(bench, B, A, { toolCalls: 10, cost: 0.5 })
      await registerChild(bench, C, B, { toolCalls: 5, cost: 0.1 })
      await chargeBefore(bench, C, { toolCalls: 2 })
      await chargeBefore(bench, B, { cost: 0.2 })
      await complete(bench, B)
      // The child that still lives keeps its allowance.
      assert.deepEqual(remainderOf(await account(bench, A)), { toolCalls: 15, cost: 0.7 })
      assert.equal((await account(bench, B)).settled, true)
      await chargeBefore(bench, C, { toolCalls: 1 })
      await complete(bench, C)
      const root = await account(bench, A)
      assert.deepEqual(remainderOf(root), { toolCalls: 17, cost: 0.8 })
      assert.deepEqual([root.carved['toolCalls'], root.carved['cost']], [0, 0])
      assert.deepEqual(spentOf(root), { toolCalls: 3, cost: 0.2, children: 2 })
    },
  )

  behaves('the processes of a session get their allowances from the session’s', async (bench) => {
    const opened = await openSession(bench.edges, 'host', 's1', null, { modelCalls: 40 })
    const request = { ...OUTSIDE, owner: { session: 's1' } }
    await bench.register(request, { pid: A })
    assert.deepEqual((await account(bench, A)).given, { modelCalls: 20 })
    await bench.register({ ...request, allowance: { modelCalls: 20 } }, { pid: B })
    const none = { ...request, allowance: { modelCalls: 1 } }
    assert.equal(refusalOf(await bench.tryRegister([{ pid: C, request: none }])), 'limit_exceeded')
    await chargeBefore(bench, A, { modelCalls: 3 })
    await complete(bench, A)
    const session = await bench.store.ask({ ask: 'account', id: sessionAccountOf(opened) })
    assert.ok(session)
    assert.deepEqual(remainderOf(session), { modelCalls: 17 })
  })

  behaves('a session can get an allowance later, once, and it counts from then on', async (bench) => {
    await openSession(bench.edges, 'host', 's1', null)
    const request = { ...OUTSIDE, owner: { session: 's1' } }
    await bench.register(request, { pid: A })
    const opened = await openSession(bench.edges, 'host', 's1', null, { modelCalls: 40 })
    await bench.register(request, { pid: B })
    assert.deepEqual((await account(bench, B)).given, { modelCalls: 20 })
    const before = await snapshotBesidesAudit(bench.store)
    const again = openSession(bench.edges, 'host', 's1', null, { modelCalls: 41 })
    assert.equal(await codeOf(again), 'conflict')
    const own = markDeleted(bench.edges, 'session:s1', 's1')
    assert.equal(await codeOf(own), 'denied')
    assert.deepEqual(await snapshotBesidesAudit(bench.store), before)
    const session = await bench.store.ask({ ask: 'account', id: sessionAccountOf(opened) })
    assert.deepEqual(session === null ? null : remainderOf(session), { modelCalls: 20 })
  })

  behaves('only the host opens a deleted session again that had an allowance', async (bench) => {
    await openSession(bench.edges, 'host', 's1', null, { modelCalls: 4 })
    await markDeleted(bench.edges, 'host', 's1')
    await sessionCarried(bench.edges, 's1')
    const before = await snapshotBesidesAudit(bench.store)
    assert.equal(await codeOf(openSession(bench.edges, 'session:s1', 's1', null)), 'denied')
    assert.deepEqual(await snapshotBesidesAudit(bench.store), before)
    await openSession(bench.edges, 'host', 's1', null)
    await markDeleted(bench.edges, 'host', 's1')
    await sessionCarried(bench.edges, 's1')
    await openSession(bench.edges, 'session:s1', 's1', null)
  })

  behaves(
    'a successor gets the rest of its predecessor’s allowance, and replaces it among the children',
    async (bench) => {
      await bench.register({ ...OUTSIDE, limits: { liveChildren: 1 }, allowance: { cost: 1 } }, { pid: A })
      await registerChild(bench, B, A, { cost: 1 })
      await chargeBefore(bench, B, { cost: 0.25 })
      const request = { ...OUTSIDE, parent: A, allowance: { cost: 1 } }
      const before = await snapshotOf(bench.store)
      assert.equal(refusalOf(await bench.tryRegister([{ pid: C, request }])), 'limit_exceeded')
      assert.deepEqual(await snapshotOf(bench.store), before)
      const restarts = { pid: B, used: { cost: 0.125 } }
      for (const _ of times(2)) accepted(await bench.tryRegister([{ pid: C, request, restarts }]))
      assert.deepEqual((await account(bench, C)).given, { cost: 0.625 })
      assert.deepEqual(remainderOf(await account(bench, A)), { cost: 0 })
      const late = await charge(bench.edges, 'k', {
        pid: B,
        amounts: { cost: 0.1 },
        done: true,
        actor: 'host',
      })
      assert.ok(isRefusal(late) && late.code === 'already_ended')
      const below = { ...OUTSIDE, parent: B }
      assert.equal(refusalOf(await bench.tryRegister([{ pid: D, request: below }])), 'already_ended')
      for (const pid of [B, C]) await complete(bench, pid)
      const root = await account(bench, A)
      assert.deepEqual([remainderOf(root), spentOf(root)], [{ cost: 0.625 }, { cost: 0.375, children: 2 }])
    },
  )

  behaves('no more children live at once than the allowance of live children permits', async (bench) => {
    await bench.register({ ...OUTSIDE, limits: { liveChildren: 2 } }, { pid: A })
    const request = { ...OUTSIDE, parent: A }
    const three = times(3).map(() => ({ request }))
    assert.equal(refusalOf(await bench.tryRegister(three)), 'limit_exceeded')
    const one = await bench.register(request)
    assert.equal(one.record.limits.liveChildren, 2)
    await bench.register(request)
    assert.equal(refusalOf(await bench.tryRegister([{ request }])), 'limit_exceeded')
    await complete(bench, one.record.pid)
    await bench.register(request)
  })

  behaves('a tool is a call of its parent, not one of its live or counted children', async (bench) => {
    const allowance = { toolCalls: 41, tokensIn: 90_000, tokensOut: 9_000, cost: 1, children: 1 }
    await bench.register({ ...OUTSIDE, limits: { liveChildren: 1 }, allowance }, { pid: A })
    const tool = { kind: 'tool', spec: { tool: 'none' }, parent: A } as const
    await bench.register(tool, { pid: B })
    const none = { tokensIn: 0, tokensOut: 0, cost: 0 }
    assert.deepEqual((await account(bench, B)).given, { toolCalls: 20, ...none, children: 0 })
    assert.deepEqual(remainderOf(await account(bench, A)), { ...allowance, toolCalls: 20 })
    await registerChild(bench, C, A, { cost: 0.5 })
    assert.equal(
      refusalOf(await bench.tryRegister([{ request: { ...OUTSIDE, parent: A } }])),
      'limit_exceeded',
    )
    await bench.register({ ...tool, allowance: { toolCalls: 0, cost: 0.25 } }, { pid: D })
    assert.equal((await account(bench, D)).given.cost, 0.25)
    const { used, carved } = await account(bench, A)
    assert.deepEqual([used, carved.cost], [{ toolCalls: 2, children: 1 }, 0.75])
  })
}
