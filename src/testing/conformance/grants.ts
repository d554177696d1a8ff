import assert from 'node:assert/strict'
import type { Approval, ApprovalGrant, PermissionRequest } from '../../core/approval/approval.ts'
import type { Answer } from '../../core/approval/decide-answer.ts'
import type { Rule } from '../../core/capability/rule.ts'
import type { JsonObject } from '../../core/json/json.ts'
import type { Actor } from '../../core/process/record.ts'
import { startSpecOf } from '../../core/process/spec.ts'
import { isRefusal } from '../../core/refusal.ts'
import { answerApproval, answerByRule } from '../../kernel/answer-approval.ts'
import { claimAndStart } from '../../kernel/claim.ts'
import { openSession } from '../../kernel/sessions.ts'
import { expireApprovals } from '../../kernel/settle-approval.ts'
import { changeRules, ruleSet } from './authority-rows.ts'
import { type Behaves, type Bench, refusalOf, times } from './bench.ts'

const YES: Answer = { type: 'approve', grant: 'once' }

type Permission = Approval & { readonly request: PermissionRequest & Approval['request'] }

/** Answers that count for more than one time, answers with changes, and the uses of counted rules. */
export function grants(behaves: Behaves): void {
  const deploy = (input: string) => ({ kind: 'tool', spec: { tool: 'deploy', input } }) as const
  const actor: Actor = 'session:s1'
  const ask: Rule = { id: 'r1', effect: 'ask', rights: ['execute'], resource: 'tool:deploy' }
  const setUp = async (bench: Bench, rules: readonly Rule[] = [ask], subject = 'home') => {
    for (const session of ['s1', 's2']) await openSession(bench.edges, 'host', session, null)
    await changeRules(bench.store, subject, () => ({ ...ruleSet(subject), rules }))
  }
  const register = async (bench: Bench, input: string, by: Actor = actor) =>
    (await bench.register(deploy(input), { actor: by })).record
  const requestOf = async (bench: Bench, input: string, by: Actor = actor): Promise<Permission> => {
    const { gate } = await register(bench, input, by)
    assert.equal(gate?.state, 'pending', `${input} of ${by} is asked about`)
    const approval = await bench.store.ask({ ask: 'approval', id: gate?.approval ?? '' })
    assert.ok(approval?.request.type === 'permission')
    return { ...approval, request: approval.request }
  }
  const answer = (bench: Bench, id: string, given: Answer, by: Actor = 'human:ada') =>
    answerApproval(bench.edges, 'k1', { id, by, answer: given })
  const approveFor = async (bench: Bench, { id, request }: Permission, grant: ApprovalGrant) => {
    const rule = grant === 'always' && request.alwaysRule !== null ? { rule: request.alwaysRule } : {}
    const settled = await answer(bench, id, { type: 'approve', grant, ...rule })
    assert.equal(settled.type, 'settled')
  }
  const isAsked = async (bench: Bench, input: string, by: Actor = actor) =>
    (await register(bench, input, by)).gate !== null
  const audited = async (bench: Bench) =>
    (await bench.store.ask({ ask: 'audit', after: null, limit: 100 })).items.map(({ text }) =>
      JSON.parse(text),
    )
  const requestOfId = async (bench: Bench, id: string) => {
    const found = await bench.store.ask({ ask: 'approval', id })
    assert.ok(found)
    return found
  }
  const edit = (bench: Bench, id: string, spec: JsonObject) =>
    answerApproval(bench.edges, 'k1', { id, by: 'human:ada', answer: YES, edit: { spec, resolved: null } })

  behaves(
    'an approval for the session covers the same action of this session, and nothing else',
    async (bench) => {
      await setUp(bench)
      await approveFor(bench, await requestOf(bench, 'a'), 'session')
      assert.equal(await isAsked(bench, 'a'), false)
      assert.equal(await isAsked(bench, 'b'), true)
      assert.equal(await isAsked(bench, 'a', 'session:s2'), true)
      const decisions = (await audited(bench)).map(({ decision }) => decision)
      assert.deepEqual(decisions.slice(0, 4), ['asked', 'approved', 'granted', 'allowed'])
    },
  )

  behaves('an approval for the process covers the same action of this process alone', async (bench) => {
    await setUp(bench)
    const own = async () => {
      const agent = await bench.register({ kind: 'workflow', spec: { workflow: 'w' } }, { actor })
      const { pid } = agent.record
      const call = await bench.register(
        { kind: 'tool', spec: { tool: 'step' }, parent: pid },
        { actor: `process:${pid}` },
      )
      const begin = (input: string) =>
        bench.register({ ...deploy(input), parent: call.record.pid }, { actor: `process:${call.record.pid}` })
      return { pid, begin }
    }
    const [first, second] = [await own(), await own()]
    const { gate } = (await first.begin('a')).record
    const asked = await bench.store.ask({ ask: 'approval', id: gate?.approval ?? '' })
    assert.equal(asked?.request.subject, `process:${first.pid}`)
    await answer(bench, gate?.approval ?? '', { type: 'approve', grant: 'process' })
    assert.equal((await first.begin('a')).record.gate, null)
    assert.equal((await first.begin('b')).record.gate?.state, 'pending')
    assert.equal((await second.begin('a')).record.gate?.state, 'pending')
    assert.equal(await isAsked(bench, 'a'), true)
  })

  behaves('always stores the rule that was shown, for every session, and no other action', async (bench) => {
    await setUp(bench)
    const request = await requestOf(bench, 'a')
    const other = { ...request.request.alwaysRule, resource: 'tool:*' } as Rule
    for (const rule of [{}, { rule: other }]) {
      const refused = await answer(bench, request.id, { type: 'approve', grant: 'always', ...rule })
      assert.equal(refused.type === 'refused' && refused.refusal.code, 'invalid_input')
    }
    await approveFor(bench, request, 'always')
    assert.equal(await isAsked(bench, 'a', 'session:s2'), false)
    assert.equal(await isAsked(bench, 'b'), true)
    const home = await bench.store.ask({ ask: 'ruleSet', subject: 'home' })
    assert.deepEqual(home?.rules, [ask, request.request.alwaysRule])
    assert.equal(home?.closed, false)
  })

  behaves('a rule that is added later asks again, and a deny wins over every grant', async (bench) => {
    await setUp(bench)
    await approveFor(bench, await requestOf(bench, 'a'), 'session')
    const add = (rule: Rule) =>
      changeRules(bench.store, 'home', (was) => ({
        ...ruleSet('home'),
        rules: [...(was?.rules ?? []), rule],
      }))
    await add({ ...ask, id: 'r2' })
    await approveFor(bench, await requestOf(bench, 'a'), 'always')
    assert.equal(await isAsked(bench, 'a'), false)
    await add({ ...ask, id: 'r3', effect: 'deny' })
    assert.equal(refusalOf(await bench.tryRegister([{ request: deploy('a'), actor }])), 'denied')
  })

  behaves(
    'a rule for every time answers the pending requests that it covers, each once and by its name',
    async (bench) => {
      await setUp(bench)
      const [first, same, other] = [
        await requestOf(bench, 'a'),
        await requestOf(bench, 'a', 'session:s2'),
        await requestOf(bench, 'b'),
      ]
      assert.equal(await answerByRule(bench.edges, 'k1', same.id), undefined)
      await approveFor(bench, first, 'always')
      const edges = [bench.edges, bench.edgesOver(await bench.open())]
      const settled = await Promise.all(
        times(6).map((index) => answerByRule(edges[index % 2] ?? bench.edges, 'k1', same.id)),
      )
      assert.equal(settled.filter((one) => one?.type === 'settled').length, 1)
      const answered = await bench.store.ask({ ask: 'approval', id: same.id })
      assert.ok(answered?.answer?.type === 'approved')
      assert.equal(answered.answer.rule?.id, first.request.alwaysRule?.id)
      assert.equal((await bench.row(same.pid)).record.status, 'queued')
      assert.equal(await answerByRule(bench.edges, 'k1', other.id), undefined)
      assert.equal((await bench.row(other.pid)).record.gate?.state, 'pending')
    },
  )

  behaves(
    'a kernel answers what a rule covers after the answer, and after a crash in between',
    async (bench) => {
      await setUp(bench)
      const first = await requestOf(bench, 'a')
      const covered = await Promise.all(times(3).map(() => requestOf(bench, 'a', 'session:s2')))
      const denied = await requestOf(bench, 'b')
      // The kernel that stored the rule died before it looked for other requests.
      await approveFor(bench, first, 'always')
      const { kernel } = await bench.kernel({ id: 'k_one', serves: [] })
      await kernel.sweep()
      await kernel.approvals.coveredSettled()
      for (const { id } of covered)
        assert.equal((await bench.store.ask({ ask: 'approval', id }))?.state, 'answered')
      await kernel.approvals.answer({ id: denied.id, by: 'human:ada', answer: { type: 'deny' } })
      const [again, twin] = [await requestOf(bench, 'c'), await requestOf(bench, 'c')]
      const rule = again.request.alwaysRule
      assert.ok(rule)
      await kernel.approvals.answer({
        id: again.id,
        by: 'human:ada',
        answer: { type: 'approve', grant: 'always', rule },
      })
      await kernel.approvals.coveredSettled()
      assert.equal((await bench.store.ask({ ask: 'approval', id: twin.id }))?.state, 'answered')
    },
  )

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

  behaves('an agent that may approve does not change what is asked later', async (bench) => {
    await setUp(bench)
    const approver: Rule = { id: 'a1', effect: 'allow', rights: ['approve'], resource: 'session:s1' }
    await changeRules(bench.store, 'session:s2', () => ({ ...ruleSet('session:s2'), rules: [approver] }))
    const request = await requestOf(bench, 'a')
    const refused = await answer(bench, request.id, { type: 'approve', grant: 'session' }, 'session:s2')
    assert.equal(refused.type === 'refused' && refused.refusal.code, 'denied')
    const settled = await answer(bench, request.id, { type: 'approve', grant: 'once' }, 'session:s2')
    assert.equal(settled.type, 'settled')
  })

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
