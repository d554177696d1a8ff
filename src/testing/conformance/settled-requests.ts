import assert from 'node:assert/strict'
import type { Rule } from '../../core/capability/rule.ts'
import { startSpecOf } from '../../core/process/spec.ts'
import { isRefusal } from '../../core/refusal.ts'
import { claimAndStart } from '../../kernel/claim.ts'
import { expireApprovals } from '../../kernel/settle-approval.ts'
import {
  actor,
  answer,
  approveFor,
  ask,
  audited,
  deploy,
  edit,
  isAsked,
  requestOf,
  requestOfId,
  setUp,
  YES,
} from './asked-deploys.ts'
import { changeRules, ruleSet } from './authority-rows.ts'
import { type Behaves, type Bench, refusalOf } from './bench.ts'

/** Answers with changes, the uses of counted rules, requests that expire, and the audit of answers. */
export function settledRequests(behaves: Behaves): void {
  behaves(
    'an approval with changes runs the changed spec, and the audit names the changes',
    async (bench) => {
      await setUp(bench, [ask, { ...ask, id: 'r2', effect: 'deny', resource: 'tool:remove' }])
      const request = await requestOf(bench, 'a')
      const wrong = await edit(bench, request.id, { tool: 'remove', input: 'a' })
      assert.equal(wrong.type === 'refused' && wrong.refusal.code, 'invalid_input')
      const settled = await edit(bench, request.id, { tool: 'deploy', input: 'dry' })
      assert.ok(settled.type === 'settled')
      const { record } = settled.row
      assert.deepEqual([record.spec['input'], startSpecOf(record)['input']], ['a', 'dry'])
      assert.notEqual(record.gate?.actionHash, request.request.actionHash)
      assert.equal((await claimAndStart(bench.edges, [record.pid], 'k1')).length, 1)
      assert.deepEqual((await audited(bench)).at(-1)?.inputs.changed, { input: { from: 'a', to: 'dry' } })
    },
  )

  behaves('an edit that a rule denies is refused, and the request still waits', async (bench) => {
    await setUp(bench)
    const request = await requestOf(bench, 'a')
    const deny: Rule = { ...ask, id: 'r2', effect: 'deny' }
    await changeRules(bench.store, 'home', () => ({ ...ruleSet('home'), rules: [ask, deny] }))
    const refused = await edit(bench, request.id, { tool: 'deploy', input: 'b' })
    assert.equal(refused.type === 'refused' && refused.refusal.code, 'denied')
    assert.equal((await bench.row(request.pid)).record.gate?.state, 'pending')
  })

  const counted = (uses: number): readonly Rule[] => [
    { ...ask, id: 'ask' },
    { ...ask, id: 'few', effect: 'allow', uses },
  ]
  const useOf = async (bench: Bench) =>
    (await bench.store.ask({ ask: 'ruleUse', id: 'session:s1 few' }))?.used

  behaves(
    'a reserved use is given back by a denial, a withdrawal and an expiry, and spent by an approval',
    async (bench) => {
      await setUp(bench, counted(3), 'session:s1')
      const [approved, denied, stopped] = [
        await requestOf(bench, 'a'),
        await requestOf(bench, 'b'),
        await requestOf(bench, 'c'),
      ]
      assert.equal(await useOf(bench), 3)
      assert.equal(refusalOf(await bench.tryRegister([{ request: deploy('d'), actor }])), 'denied')
      await approveFor(bench, approved, 'once')
      await answer(bench, denied.id, { type: 'deny' })
      await answer(bench, denied.id, { type: 'deny' })
      assert.equal(await useOf(bench), 2)
      const stop = { how: 'cancel', reason: 'no', cause: null, replayKey: 'stop' } as const
      await bench.performed('appended', { type: 'stop', pid: stopped.pid, ...stop })
      assert.equal(await useOf(bench), 1)
      // It was approved, so that it may have begun.
      await bench.performed('appended', { type: 'stop', pid: approved.pid, ...stop })
      assert.equal(await useOf(bench), 1)
      const late = await requestOf(bench, 'e')
      const { request: _request, ...rest } = late
      await bench.store.write(function* () {
        yield []
        const approval = { ...rest, request: late.request, expiresAt: bench.clock.now() }
        return { answer: undefined, changes: [{ type: 'approval', was: late, approval }] }
      })
      assert.equal((await expireApprovals(bench.edges, 'k1', 10)).length, 1)
      assert.equal(await useOf(bench), 1)
    },
  )

  behaves('two registrations of one transaction do not share the last use', async (bench) => {
    await setUp(bench, [{ ...ask, id: 'few', effect: 'allow', uses: 2 }], 'session:s1')
    const both = await bench.tryRegister([
      { request: deploy('a'), actor },
      { request: deploy('b'), actor },
    ])
    assert.ok(!isRefusal(both))
    assert.equal(await useOf(bench), 2)
    assert.equal(refusalOf(await bench.tryRegister([{ request: deploy('c'), actor }])), 'denied')
    await changeRules(bench.store, 'session:s1', () => ({
      ...ruleSet('session:s1'),
      rules: [{ ...ask, id: 'one', effect: 'allow', uses: 1 }],
    }))
    const more = [deploy('d'), deploy('e')].map((request) => ({ request, actor }))
    assert.equal(refusalOf(await bench.tryRegister(more)), 'denied')
  })

  behaves(
    'a rule gives the time to answer, and an unanswered request ends its process then',
    async (bench) => {
      await setUp(bench, [{ ...ask, answerWithinMs: 5_000 }])
      const { kernel } = await bench.kernel({ id: 'k_one', serves: [] })
      const request = await requestOf(bench, 'a')
      assert.equal(request.expiresAt, request.askedAt + 5_000)
      await kernel.sweep()
      const ended = kernel.waits.forEnd(request.pid, {})
      bench.clock.advance(5_000)
      await ended
      const { outcome } = (await bench.row(request.pid)).record
      assert.deepEqual([outcome?.status, outcome?.reason], ['cancelled', 'approval_expired'])
      const late = await answer(bench, request.id, { type: 'approve', grant: 'once' })
      assert.equal(late.type === 'settled_before' && late.approval.state, 'expired')
      assert.deepEqual(await claimAndStart(bench.edges, [request.pid], 'k1'), [])
    },
  )

  behaves(
    'a clock that jumps, and a daemon that was away, expire a request and never start it',
    async (bench) => {
      await setUp(bench, [{ ...ask, answerWithinMs: 5_000 }])
      const [early, late] = [await requestOf(bench, 'a'), await requestOf(bench, 'b')]
      bench.clock.jump(-60_000)
      assert.deepEqual(await expireApprovals(bench.edges, 'k1', 10), [])
      bench.clock.jump(120_000)
      // Answered before any sweep has seen that its time is over.
      const settled = await answer(bench, early.id, { type: 'approve', grant: 'session' })
      assert.equal(settled.type === 'settled_before' && settled.approval.state, 'expired')
      // The end is an act of the kernel: the person has decided nothing.
      assert.equal((await bench.row(early.pid)).record.outcome?.source, 'kernel:k1')
      assert.deepEqual(
        (await bench.events(early.pid)).slice(-2).map(({ type, actor }) => [type, actor]),
        [
          ['approval_settled', 'kernel:k1'],
          ['ended', 'kernel:k1'],
        ],
      )
      const last = (await audited(bench)).at(-1)
      assert.deepEqual([last?.actor, last?.decision], ['kernel:k1', 'expired'])
      assert.equal(await isAsked(bench, 'a'), true)
      const { kernel } = await bench.kernel({ id: 'k_one', serves: [] })
      await kernel.sweep()
      for (const { pid } of [early, late]) {
        assert.equal((await bench.row(pid)).record.outcome?.reason, 'approval_expired')
        assert.deepEqual(await claimAndStart(bench.edges, [pid], 'k1'), [])
      }
    },
  )

  const denials = async (bench: Bench) =>
    (await audited(bench))
      .filter(({ action, decision }) => action === 'answer' && decision === 'denied')
      .map(({ actor, target, reason, inputs }) => [actor, target, inputs.approval, reason])

  behaves(
    'an answer by an actor that may not give it is in the audit, once for equal ones',
    async (bench) => {
      await setUp(bench)
      const { id, pid } = await requestOf(bench, 'a')
      for (const given of [YES, YES, { type: 'deny' } as const]) await answer(bench, id, given, 'session:s2')
      const [denial, ...more] = await denials(bench)
      assert.deepEqual(denial?.slice(0, 3), ['session:s2', `process:${pid}`, id])
      assert.match(String(denial?.[3]), /may not answer/)
      assert.deepEqual(more, [])
      await answer(bench, 'a_none', YES, 'session:s2')
      assert.equal((await denials(bench)).length, 1)
    },
  )

  behaves('a yes that a rule forbids by now is in the audit with the rule', async (bench) => {
    await setUp(bench)
    const { id } = await requestOf(bench, 'a')
    const deny: Rule = { ...ask, id: 'r2', effect: 'deny' }
    await changeRules(bench.store, 'home', () => ({ ...ruleSet('home'), rules: [ask, deny] }))
    await answer(bench, id, YES)
    await edit(bench, id, { tool: 'deploy', input: 'b' })
    const last = (await audited(bench)).at(-1)
    assert.deepEqual([last?.actor, last?.decision, last?.rule?.id], ['human:ada', 'denied', 'r2'])
    assert.equal((await bench.row((await requestOfId(bench, id)).pid)).record.gate?.state, 'pending')
  })

  behaves('a withdrawn request is in the audit, with the actor that ended its process', async (bench) => {
    await setUp(bench)
    const { id, pid } = await requestOf(bench, 'a')
    const stop = { how: 'cancel', reason: 'not needed', cause: null, replayKey: 'stop' } as const
    await bench.performed('appended', { type: 'stop', pid, actor, ...stop })
    await bench.performed('kept', { type: 'stop', pid, actor, ...stop, replayKey: 'again' })
    const entries = (await audited(bench)).filter(({ decision }) => decision === 'withdrawn')
    assert.deepEqual(
      entries.map((entry) => [
        entry.actor,
        entry.target,
        entry.reason,
        entry.inputs.approval,
        entry.rule?.id,
      ]),
      [[actor, `process:${pid}`, 'not needed', id, 'r1']],
    )
  })
}
