import assert from 'node:assert/strict'
import type { Rule } from '../../core/capability/rule.ts'
import { answerByRule } from '../../kernel/answer-approval.ts'
import {
  actor,
  answer,
  approveFor,
  ask,
  audited,
  deploy,
  isAsked,
  requestOf,
  setUp,
} from './asked-deploys.ts'
import { changeRules, ruleSet } from './authority-rows.ts'
import { type Behaves, refusalOf, times } from './bench.ts'

/** Answers that count for more than one time. */
export function grants(behaves: Behaves): void {
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
}
