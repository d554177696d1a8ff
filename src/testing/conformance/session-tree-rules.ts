import assert from 'node:assert/strict'
import type { Amounts } from '../../core/allowance/amounts.ts'
import type { Actor } from '../../core/process/record.ts'
import { isRefusal } from '../../core/refusal.ts'
import { answerApproval } from '../../kernel/answer-approval.ts'
import { openSession } from '../../kernel/sessions.ts'
import { changeRules, ruleSet } from './authority-rows.ts'
import { type Behaves, type Bench, codeOf, OUTSIDE, refusalOf, TOOL } from './bench.ts'
import { openTree } from './session-trees.ts'
import { snapshotOf } from './sound.ts'

/** The rules, answers and allowances of sessions bind the sessions below them. */
export function sessionTreeRules(behaves: Behaves): void {
  const DEPLOY = { kind: 'tool', spec: { tool: 'deploy' } } as const
  const forbid = (bench: Bench, session: string, effect: 'ask' | 'deny') =>
    changeRules(bench.store, `session:${session}`, () => ({
      ...ruleSet(`session:${session}`),
      rules: [{ id: 'r1', effect, rights: ['execute'], resource: 'tool:deploy' }],
    }))

  behaves('the rules of every session above bind a session and its processes', async (bench) => {
    await openTree(bench)
    await forbid(bench, 'top', 'deny')
    assert.equal(refusalOf(await bench.tryRegister([{ request: DEPLOY, actor: 'session:low' }])), 'denied')
    const { record } = await bench.register(
      { ...TOOL, kind: 'external', spec: { description: 'agent' } },
      { actor: 'session:low' },
    )
    const byProcess = { request: { ...DEPLOY, parent: record.pid }, actor: `process:${record.pid}` } as const
    assert.equal(refusalOf(await bench.tryRegister([byProcess])), 'denied')
    assert.ok(!isRefusal(await bench.tryRegister([{ request: DEPLOY, actor: 'session:other' }])))
  })

  behaves('a process that is registered into a session below is bound by its rules', async (bench) => {
    await openTree(bench)
    await forbid(bench, 'low', 'deny')
    const request = { ...DEPLOY, owner: { session: 'low' } }
    assert.equal(refusalOf(await bench.tryRegister([{ request, actor: 'session:top' }])), 'denied')
    assert.ok(!isRefusal(await bench.tryRegister([{ request: DEPLOY, actor: 'session:top' }])))
  })

  behaves('neither a session above the asker nor one below it may answer', async (bench) => {
    await openTree(bench)
    await forbid(bench, 'mid', 'ask')
    for (const session of ['top', 'low', 'other'])
      await changeRules(bench.store, `session:${session}`, () => ({
        ...ruleSet(`session:${session}`),
        rules: [{ id: 'r1', effect: 'allow', rights: ['approve'], resource: 'session:mid' }],
      }))
    // The rules of `top` bind `mid`, too, and would deny what they do not allow.
    await changeRules(bench.store, 'session:top', () => ({
      ...ruleSet('session:top'),
      rules: [
        { id: 'r1', effect: 'allow', rights: ['approve'], resource: 'session:mid' },
        { id: 'r2', effect: 'allow', rights: ['execute'], resource: 'tool:deploy' },
      ],
    }))
    const { record } = await bench.register(DEPLOY, { actor: 'session:mid' })
    const answering = (by: Actor) =>
      answerApproval(bench.edges, 'k1', {
        id: record.wait?.name ?? '',
        by,
        answer: { type: 'approve', grant: 'once' },
      })
    // A denial is in the audit, and changes nothing else.
    const factsIn = async () => ({ ...(await snapshotOf(bench.store)), audit: null, auditWindows: null })
    const before = await factsIn()
    for (const by of ['session:top', 'session:mid', 'session:low'] as const) {
      const refused = await answering(by)
      assert.equal(refused.type === 'refused' && refused.refusal.code, 'denied', by)
    }
    assert.deepEqual(await factsIn(), before)
    assert.equal((await answering('session:other')).type, 'settled')
  })

  behaves('a session below one with an allowance uses that allowance', async (bench) => {
    await openSession(bench.edges, 'host', 'top', null, { cost: 8, children: 2 })
    await openSession(bench.edges, 'session:top', 'mid', null, undefined, undefined, 'top')
    const start = (allowance: Amounts) =>
      bench.tryRegister([{ request: { ...OUTSIDE, allowance }, actor: 'session:mid' }])
    assert.equal(refusalOf(await start({ cost: 9 })), 'limit_exceeded')
    assert.ok(!isRefusal(await start({})))
    assert.ok(!isRefusal(await start({})))
    assert.equal(refusalOf(await start({})), 'limit_exceeded', 'two children are the most')
  })

  behaves('the allowance of a session below is a part of that above, and goes back', async (bench) => {
    await openSession(bench.edges, 'host', 'top', null, { cost: 8 })
    assert.equal(
      await codeOf(openSession(bench.edges, 'host', 'mid', null, { cost: 9 }, undefined, 'top')),
      'limit_exceeded',
    )
    await openSession(bench.edges, 'host', 'mid', null, { cost: 6 }, undefined, 'top')
    assert.equal(
      await codeOf(openSession(bench.edges, 'host', 'low', null, { cost: 3 }, undefined, 'top')),
      'limit_exceeded',
    )
    const { kernel } = await bench.kernel({ id: 'k_one', serves: [] })
    await kernel.sessions.end('host', 'mid')
    await openSession(bench.edges, 'host', 'low', null, { cost: 8 }, undefined, 'top')
  })
}
