import assert from 'node:assert/strict'
import type { Approval } from '../../core/approval/approval.ts'
import { REVIEW_MS, reviewKeyOf } from '../../core/approval/review.ts'
import { type Json, objectOf } from '../../core/json/json.ts'
import type { StoredEvent } from '../../core/process/event.ts'
import type { Pid } from '../../core/process/pid.ts'
import { answerApproval } from '../../kernel/answer-approval.ts'
import { openSession } from '../../kernel/sessions.ts'
import type { TestKernel } from '../test-kernel.ts'
import { changeRules, ruleSet } from './authority-rows.ts'
import { type Behaves, type Bench, pidOf, times } from './bench.ts'
import { auditedEntries } from './sound.ts'

const DEPLOY = { kind: 'tool', spec: { tool: 'deploy', input: { to: 'production' } } } as const

/** Reviewers: a process decides about a request before a person is asked. */
export function reviews(behaves: Behaves): void {
  const ask = async (bench: Bench, name = 'deploy') => {
    const { record } = await bench.register(
      { ...DEPLOY, reason: 'it is ready' },
      { actor: 'session:s1', pid: pidOf(name) },
    )
    const id = record.wait?.name ?? ''
    return { id, pid: record.pid, review: bench.edges.pidOf(reviewKeyOf(id)) }
  }
  /** Asks for a deployment, with a rule that names this reviewer, while a kernel serves the tool `check`. */
  const asked = async (bench: Bench, reviewer = 'tool:check', sweepMs = 10_000) => {
    const serves = (['tool', 'workflow'] as const).map((kind) => ({ kind, targets: ['check'] }))
    const kernel = await bench.kernel({ id: 'k_reviewer', serves, sweepMs })
    await openSession(bench.edges, 'host', 's1', null)
    await changeRules(bench.store, 'session:s1', () => ({
      ...ruleSet('session:s1'),
      rules: [{ id: 'r1', effect: 'ask', rights: ['execute'], resource: 'tool:deploy', reviewer }],
    }))
    return { kernel, ...(await ask(bench)) }
  }
  const ended = ({ kernel }: TestKernel, pid: Pid) => kernel.waits.forEnd(pid, { timeoutMs: 60_000 })
  const approvalOf = async (bench: Bench, id: string): Promise<Approval> => {
    const found = await bench.store.ask({ ask: 'approval', id })
    assert.ok(found)
    return found
  }
  const reviewed = async (bench: Bench, kernel: TestKernel, review: Pid, result: Json) => {
    await kernel.begun(review)
    kernel.finish(review, { status: 'completed', result })
    await ended(kernel, review)
    assert.notEqual((await bench.row(review)).record.outcome, null)
  }
  const decisions = async (bench: Bench) =>
    (await auditedEntries(bench.store)).map(({ actor, decision }) => [actor, decision])
  const isForPerson = async (bench: Bench, id: string) => {
    const { state, request, reviewUntil, pushAt } = await approvalOf(bench, id)
    assert.deepEqual([state, request.reviewer, reviewUntil], ['pending', null, undefined])
    assert.ok(pushAt !== null && pushAt <= bench.clock.now(), 'a person is told at once')
    assert.equal((await bench.row(pidOf('deploy'))).record.status, 'waiting')
  }

  behaves('a reviewer is started with the request, by the commit that asks', async (bench) => {
    const { id, pid, review } = await asked(bench)
    const { record } = await bench.row(review)
    const input = objectOf(objectOf(record.spec)['input'])
    assert.deepEqual(
      [input['approval'], input['subject'], input['session'], input['needs'], input['reason'], input['rule']],
      [
        id,
        'session:s1',
        's1',
        ['execute tool:deploy'],
        'it is ready',
        'ask  execute tool:deploy  reviewer tool:check',
      ],
    )
    const action = objectOf(input['action'])
    assert.deepEqual(action['act'], { type: 'tool', tool: 'deploy', input: { to: 'production' } })
    assert.deepEqual([record.parent, record.owner, record.gate], [null, {}, null])
    const [registered] = await bench.events(review)
    const [asking] = await bench.events(pid)
    assert.ok(registered && asking && registered.at === asking.at)
    const { pushAt, reviewUntil } = await approvalOf(bench, id)
    assert.deepEqual([pushAt, reviewUntil], [asking.at + REVIEW_MS, asking.at + REVIEW_MS])
  })

  behaves('an approving reviewer queues the process, in its own name', async (bench) => {
    const { kernel, id, pid, review } = await asked(bench)
    await reviewed(bench, kernel, review, { decision: 'approve' })
    const { state, answer } = await approvalOf(bench, id)
    assert.deepEqual([state, answer?.type, answer?.by], ['answered', 'approved', `process:${review}`])
    assert.equal((await bench.row(pid)).record.status, 'queued')
    assert.deepEqual(await decisions(bench), [
      ['session:s1', 'asked'],
      [`process:${review}`, 'approved'],
    ])
  })

  for (const effect of ['deny', 'ask'] as const)
    behaves(`a person decides if a rule that was added since has the effect ${effect}`, async (bench) => {
      const { kernel, id, review } = await asked(bench)
      await changeRules(bench.store, 'home', () => ({
        ...ruleSet('home'),
        rules: [{ id: 'r1', effect, rights: ['execute'], resource: 'tool:deploy' }],
      }))
      await reviewed(bench, kernel, review, { decision: 'approve' })
      await isForPerson(bench, id)
      assert.deepEqual((await decisions(bench)).at(-1), [`process:${review}`, 'asked'])
    })

  behaves('a yes of a reviewer counts one use, and a request for a person keeps its own', async (bench) => {
    const { kernel } = await asked(bench)
    const rule = { rights: ['execute'], resource: 'tool:deploy' } as const
    const few = [
      { ...rule, id: 'r1', effect: 'ask', reviewer: 'tool:check' },
      { ...rule, id: 'few', effect: 'allow', uses: 2 },
    ] as const
    await changeRules(bench.store, 'session:s1', (was) => ({ ...(was ?? ruleSet('session:s1')), rules: few }))
    const used = async () => (await bench.store.ask({ ask: 'ruleUse', id: 'session:s1 few' }))?.used
    const first = await ask(bench, 'first')
    const second = await ask(bench, 'second')
    await reviewed(bench, kernel, first.review, { decision: 'approve' })
    assert.equal((await bench.row(first.pid)).record.status, 'queued')
    assert.equal(await used(), 2)
    await changeRules(bench.store, 'home', () => ({
      ...ruleSet('home'),
      rules: [{ ...rule, id: 'r1', effect: 'deny' }],
    }))
    await reviewed(bench, kernel, second.review, { decision: 'approve' })
    assert.equal(await used(), 2)
    const deny = { id: second.id, by: 'human:ada', answer: { type: 'deny' } } as const
    assert.equal((await answerApproval(bench.edges, 'k1', deny)).type, 'settled')
    assert.equal(await used(), 1)
  })

  behaves('a denying reviewer ends the process, with its advice', async (bench) => {
    const { kernel, pid, review } = await asked(bench)
    await reviewed(bench, kernel, review, { decision: 'deny', advice: 'wait until Monday' })
    const { outcome } = (await bench.row(pid)).record
    assert.deepEqual(
      [outcome?.status, outcome?.reason, outcome?.result],
      ['cancelled', 'approval_denied', { advice: 'wait until Monday' }],
    )
    assert.deepEqual((await decisions(bench)).at(-1), [`process:${review}`, 'refused'])
  })

  const UNCLEAR: readonly Json[] = [
    { decision: 'unsure', advice: 'it touches production' },
    { decision: 'yes' },
    { decision: ['approve'] },
    { decision: 'approve', advice: 7 },
    'approve',
    null,
    {},
  ]
  for (const result of UNCLEAR)
    behaves(`a person decides after the review ${JSON.stringify(result)}`, async (bench) => {
      const { kernel, id, review } = await asked(bench)
      await reviewed(bench, kernel, review, result)
      await isForPerson(bench, id)
      assert.deepEqual((await decisions(bench)).at(-1), [`process:${review}`, 'asked'])
    })

  behaves('a person decides when the reviewer fails', async (bench) => {
    const { kernel, id, review } = await asked(bench)
    await kernel.begun(review)
    kernel.finish(review, { status: 'failed', reason: 'no network' })
    await ended(kernel, review)
    await isForPerson(bench, id)
  })

  behaves('a person decides when the reviewer dies with its kernel', async (bench) => {
    const { kernel, id, review } = await asked(bench)
    await kernel.begun(review)
    bench.kill(kernel)
    const other = await bench.kernel({ id: 'k_other', serves: [] })
    await other.kernel.sweep()
    assert.equal((await bench.row(review)).record.outcome?.status, 'abandoned')
    await isForPerson(bench, id)
  })

  for (const reviewer of ['tool:missing', 'workflow:missing', 'agent:check', 'check'])
    behaves(`a person is asked at once if no kernel serves the reviewer ${reviewer}`, async (bench) => {
      const { id, review } = await asked(bench, reviewer)
      assert.equal(await bench.store.ask({ ask: 'process', pid: review }), null)
      await isForPerson(bench, id)
    })

  behaves(
    'a person decides when the reviewer takes too long, and the reviewer is cancelled',
    async (bench) => {
      const { kernel, id, review } = await asked(bench)
      await kernel.begun(review)
      bench.clock.advance(REVIEW_MS - 1)
      await kernel.kernel.sweep()
      assert.equal((await approvalOf(bench, id)).request.reviewer, 'tool:check')
      bench.clock.advance(1)
      await kernel.kernel.sweep()
      await isForPerson(bench, id)
      assert.equal((await bench.row(review)).record.stopRequest?.how, 'cancel')
      kernel.finish(review, { status: 'completed', result: { decision: 'approve' } })
      await ended(kernel, review)
      await isForPerson(bench, id)
    },
  )

  behaves('a person may answer while the reviewer works: the first answer counts', async (bench) => {
    const { kernel, id, pid, review } = await asked(bench)
    await kernel.begun(review)
    const deny = { id, by: 'human:ada', answer: { type: 'deny' } } as const
    assert.equal((await answerApproval(bench.edges, 'k1', deny)).type, 'settled')
    assert.equal((await bench.row(review)).record.stopRequest?.how, 'cancel')
    kernel.finish(review, { status: 'completed', result: { decision: 'approve' } })
    await ended(kernel, review)
    assert.equal((await bench.row(pid)).record.outcome?.source, 'human:ada')
    const late = await answerApproval(bench.edges, 'k1', { ...deny, by: 'human:bob' })
    assert.equal(late.type, 'settled_before')
  })

  behaves('a reviewer and a person answer at once, and one of the two counts', async (bench) => {
    const { kernel, ...deploy } = await asked(bench)
    const asks = [deploy]
    for (const round of times(4)) asks.push(await ask(bench, `deploy${round}`))
    for (const { id, pid, review } of asks) {
      await kernel.begun(review)
      kernel.finish(review, { status: 'completed', result: { decision: 'approve' } })
      const answered = await answerApproval(bench.edges, 'k1', {
        id,
        by: 'human:ada',
        answer: { type: 'deny' },
      })
      await ended(kernel, review)
      const { status } = (await bench.row(pid)).record
      const { answer } = await approvalOf(bench, id)
      assert.deepEqual(
        [status, answer?.by],
        answered.type === 'settled' ? ['cancelled', 'human:ada'] : ['queued', `process:${review}`],
      )
    }
  })

  behaves('a person decides when the time of the reviewer is over, without any sweep', async (bench) => {
    const { kernel, id, review } = await asked(bench, 'tool:check', 100 * REVIEW_MS)
    await kernel.begun(review)
    const isStopped = (event: StoredEvent) => event.pid === review && event.type === 'stop_requested'
    const stopped = kernel.kernel.follow(0, isStopped, AbortSignal.timeout(30_000)).next()
    for (let left = REVIEW_MS; left > 0; left -= 30_000) {
      assert.equal((await approvalOf(bench, id)).request.reviewer, 'tool:check')
      bench.clock.advance(30_000)
    }
    assert.ok(!(await stopped).done)
    await isForPerson(bench, id)
    kernel.finish(review)
    await ended(kernel, review)
  })

  behaves('a yes of a reviewer after the expiry is recorded as the end by a kernel', async (bench) => {
    const { kernel } = await asked(bench)
    await changeRules(bench.store, 'session:s1', (was) => ({
      ...(was ?? ruleSet('session:s1')),
      rules: (was?.rules ?? []).map((rule) => ({ ...rule, answerWithinMs: 1_000 })),
    }))
    const { id, pid, review } = await ask(bench, 'late')
    await kernel.begun(review)
    bench.clock.jump(1_000)
    kernel.finish(review, { status: 'completed', result: { decision: 'approve' } })
    await ended(kernel, review)
    await ended(kernel, pid)
    const { state, answer } = await approvalOf(bench, id)
    assert.deepEqual([state, answer], ['expired', null])
    const { outcome } = (await bench.row(pid)).record
    assert.equal(outcome?.reason, 'approval_expired')
    assert.match(String(outcome?.source), /^kernel:/)
    const [actor, decision] = (await decisions(bench)).at(-1) ?? []
    assert.equal(decision, 'expired')
    assert.match(String(actor), /^kernel:/)
  })

  behaves('the end of the asker cancels the reviewer', async (bench) => {
    const { id, pid, review } = await asked(bench)
    const stop = { type: 'stop', how: 'cancel', reason: 'x', cause: null, replayKey: 'x' } as const
    await bench.performed('appended', { ...stop, pid })
    assert.equal((await approvalOf(bench, id)).state, 'withdrawn')
    const { stopRequest, outcome } = (await bench.row(review)).record
    assert.ok(stopRequest !== null || outcome !== null)
  })

  behaves('the requests of a reviewer go to a person', async (bench) => {
    const { review } = await asked(bench, 'workflow:check')
    await changeRules(bench.store, 'home', () => ({
      ...ruleSet('home'),
      rules: [
        { id: 'r1', effect: 'ask', rights: ['execute'], resource: 'tool:deploy', reviewer: 'tool:check' },
      ],
    }))
    const child = await bench.register({ ...DEPLOY, parent: review }, { actor: `process:${review}` })
    const { request } = await approvalOf(bench, child.record.wait?.name ?? '')
    assert.equal(request.reviewer, null)
  })

  behaves('a process that only looks like a review decides nothing', async (bench) => {
    const { id } = await asked(bench)
    const fake = await bench.register(
      { kind: 'external', spec: { description: 'x' }, causedBy: { reviews: id } },
      { actor: 'session:s1' },
    )
    const ending = { status: 'completed', result: { decision: 'approve' } } as const
    await bench.performed('appended', {
      type: 'end',
      pid: fake.record.pid,
      ending,
      replayKey: 'x',
      fence: null,
    })
    const { state, request } = await approvalOf(bench, id)
    assert.deepEqual([state, request.reviewer], ['pending', 'tool:check'])
  })
}
