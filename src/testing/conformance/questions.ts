import assert from 'node:assert/strict'
import type { Answer } from '../../core/approval/decide-answer.ts'
import type { QuestionInput } from '../../core/approval/question.ts'
import type { Rule } from '../../core/capability/rule.ts'
import type { Actor } from '../../core/process/record.ts'
import { answerApproval } from '../../kernel/answer-approval.ts'
import { claimAndStart } from '../../kernel/claim.ts'
import { openSession } from '../../kernel/sessions.ts'
import { expireApprovals } from '../../kernel/settle-approval.ts'
import { changeRules, ruleSet } from './authority-rows.ts'
import { type Behaves, type Bench, refusalOf, TOOL } from './bench.ts'

/** Questions to people: processes that wait for a reply, which is their result. */
export function questions(behaves: Behaves): void {
  const process = (input: QuestionInput) => ({ kind: 'tool', spec: { tool: 'human.ask', input } }) as const
  const session: Actor = 'session:s1'
  const ask = async (bench: Bench, input: QuestionInput, actor: Actor = 'host') => {
    const { record } = await bench.register({ ...process(input), reason: 'to go on' }, { actor })
    const approval = await bench.store.ask({ ask: 'approval', id: record.gate?.approval ?? '' })
    assert.ok(approval)
    return { record, approval }
  }
  const answer = (bench: Bench, id: string, given: Answer, by: Actor = 'human:ada') =>
    answerApproval(bench.edges, 'k1', { id, by, answer: given })
  const outcomeOf = async (bench: Bench, pid: string) => (await bench.row(pid)).record.outcome
  const withRule = async (bench: Bench, effect: Rule['effect']) => {
    await openSession(bench.edges, 'host', 's1', null)
    const rule: Rule = { id: 'r1', effect, rights: ['execute'], resource: 'tool:human.ask' }
    await changeRules(bench.store, 'session:s1', () => ({ ...ruleSet('session:s1'), rules: [rule] }))
  }
  const choose = { question: 'Which branch?', choices: ['main', 'next'], person: 'ada', priority: 2 }

  behaves('a question waits for a person without any rule, and no kernel begins it', async (bench) => {
    const { record, approval } = await ask(bench, choose)
    assert.equal(record.status, 'waiting')
    assert.equal(record.wait?.name, approval.id)
    assert.deepEqual(
      [approval.state, approval.person, approval.expiresAt, approval.pushAt],
      ['pending', 'ada', null, approval.askedAt + 2_000],
    )
    const { request } = approval
    assert.ok(request.type === 'question')
    assert.deepEqual(
      [request.text, request.choices, request.priority, request.reason, request.subject],
      ['Which branch?', ['main', 'next'], 2, 'to go on', 'host'],
    )
    assert.deepEqual(await claimAndStart(bench.edges, [record.pid], 'k1'), [])
  })

  behaves('the reply is the result, and a later one changes nothing', async (bench) => {
    const { record, approval } = await ask(bench, choose)
    const wrong = await answer(bench, approval.id, { type: 'reply', value: 'other' })
    assert.ok(wrong.type === 'refused')
    assert.equal(wrong.refusal.code, 'invalid_input')
    const yes = await answer(bench, approval.id, { type: 'approve', grant: 'once' })
    assert.ok(yes.type === 'refused')
    assert.equal((await answer(bench, approval.id, { type: 'reply', value: 'next' })).type, 'settled')
    const late = await answer(bench, approval.id, { type: 'reply', value: 'main' }, 'human:bob')
    assert.equal(late.type, 'settled_before')
    const outcome = await outcomeOf(bench, record.pid)
    assert.deepEqual(
      [outcome?.status, outcome?.result, outcome?.reason, outcome?.source],
      ['completed', 'next', 'answered', 'human:ada'],
    )
  })

  behaves('an end that a program reports while a question waits is no reply', async (bench) => {
    await openSession(bench.edges, 'host', 's1', null)
    const eventTypes = { done: { schema: {}, end: 'completed' } } as const
    const { record } = await bench.register({ ...process(choose), eventTypes }, { actor: session })
    await bench.performed('appended', {
      type: 'append',
      pid: record.pid,
      fence: null,
      event: 'done',
      payload: 'next',
      replayKey: 'done',
    })
    const notices = await bench.store.ask({ ask: 'notices', scope: session, after: 0, limit: 10 })
    const end = notices.find(({ kind }) => kind === 'completion')
    assert.ok(end)
    assert.equal('reply' in Object(end.payload), false)
    assert.equal((await bench.row(record.pid)).record.gate?.state, 'withdrawn')
  })

  behaves('a denied question ends with the advice, and touches no other', async (bench) => {
    const [one, other] = [await ask(bench, choose), await ask(bench, choose)]
    await answer(bench, one.approval.id, { type: 'deny', advice: 'decide yourself' })
    const outcome = await outcomeOf(bench, one.record.pid)
    assert.deepEqual([outcome?.status, outcome?.result], ['cancelled', { advice: 'decide yourself' }])
    assert.equal(await outcomeOf(bench, other.record.pid), null)
  })

  behaves('a question ends when its time is over, and a stop withdraws it', async (bench) => {
    const { record, approval } = await ask(bench, { question: 'Now?', timeoutMs: 60_000 })
    assert.equal(approval.expiresAt, approval.askedAt + 60_000)
    const stopped = await ask(bench, { question: 'Later?' })
    await bench.clock.advance(60_000)
    assert.equal((await expireApprovals(bench.edges, 'k1', 10)).length, 1)
    const outcome = await outcomeOf(bench, record.pid)
    assert.deepEqual([outcome?.status, outcome?.reason], ['cancelled', 'approval_expired'])
    await bench.performed('appended', {
      type: 'stop',
      pid: stopped.record.pid,
      how: 'cancel',
      reason: 'no longer needed',
      cause: null,
      replayKey: 'stop',
    })
    const late = await answer(bench, stopped.approval.id, { type: 'reply', value: 'x' })
    assert.ok(late.type === 'settled_before')
    assert.equal(late.approval.state, 'withdrawn')
  })

  behaves('rules about questions hold: a deny refuses, and an ask asks the question alone', async (bench) => {
    await withRule(bench, 'deny')
    const refused = await bench.tryRegister([{ request: process(choose), actor: session }])
    assert.equal(refusalOf(refused), 'denied')
    await withRule(bench, 'ask')
    const { record } = await ask(bench, choose, session)
    const { items } = await bench.store.ask({ ask: 'approvals', pid: record.pid, after: null, limit: 10 })
    assert.deepEqual(
      items.map(({ request }) => [request.type, request.subject, request.session]),
      [['question', session, 's1']],
    )
  })

  for (const effect of ['allow', 'ask'] as const)
    behaves(
      `a question under a counted ${effect} gives its use back, however it is settled, and once`,
      async (bench) => {
        await openSession(bench.edges, 'host', 's1', null)
        const rule = { rights: ['execute'], resource: 'tool:human.ask' } as const
        const few: Rule = { ...rule, id: 'few', effect: 'allow', uses: 4 }
        const rules = effect === 'ask' ? [few, { ...rule, id: 'r1', effect }] : [few]
        await changeRules(bench.store, session, () => ({ ...ruleSet(session), rules }))
        const used = async () => (await bench.store.ask({ ask: 'ruleUse', id: `${session} few` }))?.used ?? 0
        const [replied, denied, stopped, late] = [
          await ask(bench, choose, session),
          await ask(bench, choose, session),
          await ask(bench, choose, session),
          await ask(bench, { ...choose, timeoutMs: 60_000 }, session),
        ]
        assert.equal(await used(), 4)
        const more = await bench.tryRegister([{ request: process(choose), actor: session }])
        assert.equal(refusalOf(more), 'denied')
        const next: Answer = { type: 'reply', value: 'next' }
        for (const given of [next, next]) await answer(bench, replied.approval.id, given)
        assert.equal(await used(), 3)
        await answer(bench, denied.approval.id, { type: 'deny' })
        assert.equal(await used(), 2)
        const stop = { how: 'cancel', reason: 'no', cause: null, replayKey: 'stop' } as const
        await bench.performed('appended', { type: 'stop', pid: stopped.record.pid, ...stop })
        assert.equal(await used(), 1)
        bench.clock.advance(60_000)
        await expireApprovals(bench.edges, 'k1', 10)
        assert.equal((await outcomeOf(bench, late.record.pid))?.reason, 'approval_expired')
        assert.equal(await used(), 0)
      },
    )

  behaves('a question waits no longer than the rule that asks about it says', async (bench) => {
    await openSession(bench.edges, 'host', 's1', null)
    const rule: Rule = {
      id: 'r1',
      effect: 'ask',
      rights: ['execute'],
      resource: 'tool:human.ask',
      answerWithinMs: 5_000,
    }
    await changeRules(bench.store, session, () => ({ ...ruleSet(session), rules: [rule] }))
    const waits = async (input: QuestionInput) => {
      const { approval, record } = await ask(bench, input, session)
      assert.equal(record.gate?.expiresAt, approval.expiresAt)
      return (approval.expiresAt ?? 0) - approval.askedAt
    }
    assert.equal(await waits(choose), 5_000)
    assert.equal(await waits({ ...choose, timeoutMs: 60_000 }), 5_000)
    assert.equal(await waits({ ...choose, timeoutMs: 1_000 }), 1_000)
  })

  behaves('the asker may not reply, and neither may its session', async (bench) => {
    await openSession(bench.edges, 'host', 's1', null)
    const above = await bench.register(TOOL, { actor: session })
    const parent = above.record.pid
    const child = await bench.register({ ...process(choose), parent }, { actor: `process:${parent}` })
    const id = child.record.gate?.approval ?? ''
    const asked = await bench.store.ask({ ask: 'approval', id })
    assert.deepEqual(asked?.request.ancestors, [parent])
    for (const by of [session, `process:${parent}`, `process:${child.record.pid}`] as const) {
      const refused = await answer(bench, id, { type: 'reply', value: 'main' }, by)
      assert.ok(refused.type === 'refused')
      assert.equal(refused.refusal.code, 'denied')
    }
  })

  behaves('a question without a possible answer is refused, and nothing is registered', async (bench) => {
    for (const input of [{}, { question: ' ' }, { question: 'x', choices: [] }, { question: 'x', choise: 1 }])
      assert.equal(
        refusalOf(
          await bench.tryRegister([{ request: { kind: 'tool', spec: { tool: 'human.ask', input } } }]),
        ),
        'invalid_input',
      )
    assert.deepEqual(await bench.store.ask({ ask: 'pids', prefix: 'p_', limit: 10 }), [])
  })
}
