import assert from 'node:assert/strict'
import type { Answer } from '../../core/approval/decide-answer.ts'
import { MAX_DENIALS } from '../../core/audit/window.ts'
import type { Rule } from '../../core/capability/rule.ts'
import type { Actor } from '../../core/process/record.ts'
import { isRefusal } from '../../core/refusal.ts'
import { answerApproval } from '../../kernel/answer-approval.ts'
import { claimAndStart } from '../../kernel/claim.ts'
import { openSession } from '../../kernel/sessions.ts'
import { expireApprovals } from '../../kernel/settle-approval.ts'
import { changeRules, ruleSet } from './authority-rows.ts'
import { type Behaves, type Bench, OUTSIDE, refusalOf, TOOL, times } from './bench.ts'

const DEPLOY = { kind: 'tool', spec: { tool: 'deploy' } } as const

/** The gate of registrations: rules are compared in the transaction that registers, and an approval lets a process begin. */
export function gate(behaves: Behaves): void {
  const rule = (effect: Rule['effect'], more: Partial<Rule> = {}): Rule => ({
    id: 'r1',
    effect,
    rights: ['execute'],
    resource: 'tool:deploy',
    ...more,
  })
  const withRules = async (bench: Bench, ...rules: readonly Rule[]) => {
    await openSession(bench.edges, 'host', 's1', null)
    await changeRules(bench.store, 'session:s1', () => ({ ...ruleSet('session:s1'), rules }))
  }
  const actor: Actor = 'session:s1'
  const audited = async (bench: Bench) =>
    (await bench.store.ask({ ask: 'audit', after: null, limit: 100 })).items.map(
      ({ text }) => JSON.parse(text).decision as string,
    )
  const answer = (bench: Bench, id: string, given: Answer, by: Actor = 'human:ada', edges = bench.edges) =>
    answerApproval(edges, 'k1', { id, by, answer: given })
  const asked = async (bench: Bench) => {
    await withRules(bench, rule('ask', { justification: 'deployments are reviewed' }))
    const { record } = await bench.register(DEPLOY, { actor })
    const { items } = await bench.store.ask({ ask: 'approvals', pid: record.pid, after: null, limit: 10 })
    assert.equal(items.length, 1)
    const [approval] = items
    assert.ok(approval)
    return { record, approval }
  }

  behaves('without rules nothing is asked, and nothing is audited', async (bench) => {
    await openSession(bench.edges, 'host', 's1', null)
    const { record } = await bench.register(DEPLOY, { actor })
    assert.equal(record.status, 'queued')
    assert.deepEqual(await audited(bench), [])
  })

  behaves('an ask registers the process unbegun, with an approval that says what is asked', async (bench) => {
    const { record, approval } = await asked(bench)
    assert.equal(record.status, 'waiting')
    assert.equal(record.wait?.name, approval.id)
    assert.equal(approval.state, 'pending')
    const { request } = approval
    assert.equal(request.subject, actor)
    assert.ok(request.type === 'permission')
    assert.equal(request.justification, 'deployments are reviewed')
    assert.deepEqual(request.needs, ['execute tool:deploy'])
    assert.deepEqual(await claimAndStart(bench.edges, [record.pid], 'k1'), [])
    assert.deepEqual(await audited(bench), ['asked'])
  })

  behaves('a restart by a kernel is asked about after the end of its parent as before', async (bench) => {
    await changeRules(bench.store, 'home', () => ({ ...ruleSet('home'), rules: [rule('ask')] }))
    const workflow = (await bench.register({ kind: 'workflow', spec: { workflow: 'w' } })).record
    const started = { ...DEPLOY, parent: workflow.pid, lifetime: 'daemon' } as const
    let { record } = await bench.register(started, { actor: `process:${workflow.pid}` })
    assert.equal(record.gate?.state, 'pending')
    await changeRules(bench.store, 'home', () => null)
    const restart = async () =>
      (await bench.register({ ...DEPLOY, restartOf: record.pid }, { actor: 'kernel:k1' })).record
    // Not asked about, and so without a gate that the next one could be recognised by.
    record = await restart()
    assert.equal(record.gate, null)
    await changeRules(bench.store, 'home', () => ({ ...ruleSet('home'), rules: [rule('ask')] }))
    for (const _ of times(2)) {
      record = await restart()
      assert.deepEqual([record.parent, record.gate?.state], [null, 'pending'])
    }
    const own = (await bench.register(DEPLOY)).record
    const again = await bench.register({ ...DEPLOY, restartOf: own.pid }, { actor: 'kernel:k1' })
    assert.equal(again.record.gate, null, 'the host is not asked')
  })

  behaves('the rules of others, and other tools, are as they were', async (bench) => {
    await asked(bench)
    assert.equal((await bench.register(TOOL, { actor })).record.status, 'queued')
    assert.equal((await bench.register(DEPLOY)).record.status, 'queued')
  })

  behaves('an approval queues the process, which is then begun once', async (bench) => {
    const { record, approval } = await asked(bench)
    const settled = await answer(bench, approval.id, { type: 'approve', grant: 'once' })
    assert.equal(settled.type, 'settled')
    const claims = await Promise.all(
      times(5).map((index) => claimAndStart(bench.edges, [record.pid], `k${index}`)),
    )
    assert.equal(claims.flat().length, 1)
    assert.deepEqual(await audited(bench), ['asked', 'approved'])
  })

  behaves('a denial ends the process, and it never begins', async (bench) => {
    const { record, approval } = await asked(bench)
    await answer(bench, approval.id, { type: 'deny', advice: 'not today' })
    const row = await bench.row(record.pid)
    assert.equal(row.record.outcome?.status, 'cancelled')
    assert.equal(row.record.outcome.source, 'human:ada')
    assert.deepEqual(row.record.outcome.result, { advice: 'not today' })
    assert.deepEqual(await claimAndStart(bench.edges, [record.pid], 'k1'), [])
    assert.deepEqual(await audited(bench), ['asked', 'refused'])
  })

  behaves('a stop withdraws the approval, and a late answer is told so', async (bench) => {
    const { record, approval } = await asked(bench)
    await bench.performed('appended', {
      type: 'stop',
      pid: record.pid,
      how: 'cancel',
      reason: 'no longer needed',
      cause: null,
      replayKey: 'stop',
    })
    const late = await answer(bench, approval.id, { type: 'approve', grant: 'once' })
    assert.equal(late.type, 'settled_before')
    assert.equal(late.approval.state, 'withdrawn')
    assert.equal((await bench.row(record.pid)).record.outcome?.reason, 'no longer needed')
  })

  behaves(
    'of several answers at once through several connections one wins, and the others are told which',
    async (bench) => {
      const edges = [bench.edges, bench.edgesOver(await bench.open()), bench.edgesOver(await bench.open())]
      const { record, approval } = await asked(bench)
      const answers = await Promise.all(
        times(12).map((index) => {
          const given: Answer = index % 2 === 0 ? { type: 'approve', grant: 'once' } : { type: 'deny' }
          return answer(bench, approval.id, given, `human:${index}`, edges[index % 3])
        }),
      )
      assert.equal(answers.filter(({ type }) => type === 'settled').length, 1)
      const stored = await bench.store.ask({ ask: 'approval', id: approval.id })
      for (const one of answers) {
        assert.ok(one.type !== 'refused')
        assert.equal(one.approval.answer?.by, stored?.answer?.by)
      }
      const { outcome } = (await bench.row(record.pid)).record
      assert.equal(outcome === null, stored?.answer?.type === 'approved')
      assert.equal((await audited(bench)).length, 2)
    },
  )

  behaves('the asking session may not answer, and an unknown approval is refused', async (bench) => {
    const { approval } = await asked(bench)
    const own = await answer(bench, approval.id, { type: 'approve', grant: 'once' }, actor)
    assert.ok(own.type === 'refused')
    assert.equal(own.refusal.code, 'denied')
    const unknown = await answer(bench, 'a_none', { type: 'approve', grant: 'once' })
    assert.ok(unknown.type === 'refused')
    assert.equal(unknown.refusal.code, 'approval_unknown')
  })

  behaves('an approval that expires ends the process', async (bench) => {
    const { record, approval } = await asked(bench)
    await bench.store.write(function* () {
      yield []
      const expiring = { ...approval, expiresAt: bench.clock.now() }
      return { answer: undefined, changes: [{ type: 'approval', was: approval, approval: expiring }] }
    })
    assert.equal((await expireApprovals(bench.edges, 'k1', 10)).length, 1)
    assert.equal((await bench.row(record.pid)).record.outcome?.reason, 'approval_expired')
    assert.equal((await expireApprovals(bench.edges, 'k1', 10)).length, 0)
    assert.deepEqual(await audited(bench), ['asked', 'expired'])
  })

  behaves('a denied registration writes nothing but the audit', async (bench) => {
    await withRules(bench, rule('deny'))
    const refused = await bench.tryRegister([
      { request: TOOL, actor },
      { request: DEPLOY, actor },
    ])
    assert.equal(refusalOf(refused), 'denied')
    assert.ok(isRefusal(refused))
    assert.deepEqual(await bench.store.ask({ ask: 'pids', prefix: 'p_', limit: 10 }), [])
    assert.deepEqual(await audited(bench), ['denied'])
  })

  behaves('a denied request that is repeated in a loop adds one entry to the audit', async (bench) => {
    await withRules(bench, rule('deny'))
    for (const _ of times(20))
      assert.equal(refusalOf(await bench.tryRegister([{ request: DEPLOY, actor }])), 'denied')
    assert.deepEqual(await audited(bench), ['denied'])
    const windows = await bench.store.ask({ ask: 'auditWindows', before: bench.clock.now() + 1, limit: 5 })
    assert.ok(windows.some(({ repeats }) => repeats === 19))
  })

  behaves('a use is spent once, and the last one is not given twice', async (bench) => {
    await withRules(bench, rule('allow', { uses: 3 }))
    const edges = [bench.edges, bench.edgesOver(await bench.open())]
    const registered = await Promise.all(
      times(8).map((index) => bench.tryRegister([{ request: DEPLOY, actor }], edges[index % 2])),
    )
    assert.equal(registered.filter((one) => !isRefusal(one)).length, 3)
    assert.equal((await audited(bench)).filter((decision) => decision === 'allowed').length, 3)
  })

  behaves('a batch spends a use for each of its requests, or none', async (bench) => {
    await withRules(bench, rule('allow', { uses: 3 }))
    const batch = (size: number) => bench.tryRegister(times(size).map(() => ({ request: DEPLOY, actor })))
    assert.equal(refusalOf(await batch(4)), 'denied')
    assert.ok(!isRefusal(await batch(2)))
    assert.equal(refusalOf(await batch(2)), 'denied')
    assert.ok(!isRefusal(await batch(1)))
    assert.equal(refusalOf(await batch(1)), 'denied')
  })

  behaves('different denials of one actor are counted together after the first hundred', async (bench) => {
    await withRules(bench, rule('deny', { resource: 'tool:**' }))
    const deny = (tool: string) => bench.tryRegister([{ request: { kind: 'tool', spec: { tool } }, actor }])
    for (const index of times(MAX_DENIALS + 20))
      assert.equal(refusalOf(await deny(`deploy-${index}`)), 'denied')
    assert.equal((await bench.store.ask({ ask: 'audit', after: null, limit: 500 })).items.length, MAX_DENIALS)
  })

  behaves('a restart by a kernel is bound by the rules of the parent', async (bench) => {
    await openSession(bench.edges, 'host', 's1', null)
    const parent = (await bench.register(OUTSIDE, { actor })).record.pid
    const subject = `process:${parent}`
    await changeRules(bench.store, subject, () => ({ ...ruleSet(subject), rules: [rule('ask')] }))
    const first = await bench.register({ ...DEPLOY, parent }, { actor: `process:${parent}` })
    assert.equal(first.record.gate?.state, 'pending')
    const again = { ...DEPLOY, parent, restartOf: first.record.pid, owner: { session: 's1' } }
    const { record } = await bench.register(again, { actor: 'kernel:k1' })
    assert.equal(record.gate?.state, 'pending')
  })

  behaves('a restart by a kernel asks again, as the session of the process', async (bench) => {
    await withRules(bench, rule('ask'))
    const first = await bench.register(DEPLOY, { actor })
    await answer(bench, first.record.gate?.approval ?? '', { type: 'approve', grant: 'once' })
    const again = { ...DEPLOY, restartOf: first.record.pid, owner: { session: 's1' } }
    const { record } = await bench.register(again, { actor: 'kernel:k1' })
    assert.equal(record.gate?.state, 'pending')
  })

  behaves('a tool acts as the session that called it', async (bench) => {
    await withRules(bench, rule('ask'))
    const parent = await bench.register(TOOL, { actor })
    const child = await bench.register(
      { ...DEPLOY, parent: parent.record.pid },
      { actor: `process:${parent.record.pid}` },
    )
    assert.equal(child.record.status, 'waiting')
    assert.equal(child.record.gate?.state, 'pending')
  })

  behaves('an approval names all processes above the one that waits, the nearest first', async (bench) => {
    await withRules(bench, rule('ask'))
    const pids: string[] = []
    for (const _ of times(4)) {
      const [parent] = pids
      const request = { ...TOOL, ...(parent === undefined ? {} : { parent }) }
      pids.unshift((await bench.register(request, { actor })).record.pid)
    }
    const { record } = await bench.register({ ...DEPLOY, parent: pids[0] ?? '' }, { actor })
    const asking = await bench.store.ask({ ask: 'approval', id: record.gate?.approval ?? '' })
    assert.deepEqual(asking?.request.ancestors, pids)
  })
}
