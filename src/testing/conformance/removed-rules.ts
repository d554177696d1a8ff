import assert from 'node:assert/strict'
import type { Answer } from '../../core/approval/decide-answer.ts'
import type { Rule } from '../../core/capability/rule.ts'
import type { Actor } from '../../core/process/record.ts'
import { isRefusal } from '../../core/refusal.ts'
import { answerApproval } from '../../kernel/answer-approval.ts'
import type { Edges } from '../../kernel/edges.ts'
import { addRule, clearRules, removeRule, setPreset } from '../../kernel/policies.ts'
import { markDeleted, openSession } from '../../kernel/sessions.ts'
import { type Behaves, type Bench, OUTSIDE, refusalOf } from './bench.ts'

const ACTOR: Actor = 'session:s1'
const DEPLOY = { kind: 'tool', spec: { tool: 'deploy' } } as const
const RULE = { effect: 'ask', rights: ['execute'], resource: 'tool:deploy' } as const

const clearSet = (edges: Edges, actor: Actor, subject: string, _id: string) =>
  clearRules(edges, actor, subject)

/** What goes with a rule that is removed, and what a session keeps that was answered once. */
export function removedRules(behaves: Behaves): void {
  const add = async (bench: Bench, subject: string, rule: Partial<Rule> = {}) => {
    const added = await addRule(bench.edges, 'host', subject, (id) => ({ ...RULE, id, ...rule }))
    assert.ok(!isRefusal(added))
    return added.id
  }
  const used = async (bench: Bench, id: string) =>
    (await bench.store.ask({ ask: 'ruleUse', id: `session:s1 ${id}` }))?.used ?? null
  /** `registered`, `asked`, or the code of the refusal. */
  const deploy = async (bench: Bench) => {
    const found = await bench.tryRegister([{ request: DEPLOY, actor: ACTOR }])
    if (isRefusal(found)) return refusalOf(found)
    const [one] = found
    assert.ok(one?.type === 'registered')
    return one.row.record.gate === null ? 'registered' : 'asked'
  }
  const grant = async (bench: Bench, given: Extract<Answer, { type: 'approve' }>['grant']) => {
    const { record } = await bench.register(DEPLOY, { actor: ACTOR })
    const id = record.gate?.approval ?? ''
    const found = await bench.store.ask({ ask: 'approval', id })
    assert.ok(found?.request.type === 'permission')
    const { alwaysRule } = found.request
    const rule = given === 'always' && alwaysRule !== null ? { rule: alwaysRule } : {}
    const answer: Answer = { type: 'approve', grant: given, ...rule }
    const settled = await answerApproval(bench.edges, 'k1', { id, by: 'human:ada', answer })
    assert.equal(settled.type, 'settled')
  }

  behaves('the counter of a removed rule goes with it, also through another connection', async (bench) => {
    await openSession(bench.edges, 'host', 's1', null)
    const counted = { id: 'once', effect: 'allow', uses: 1 } as const
    const other = bench.edgesOver(await bench.open())
    for (const remove of [
      () => removeRule(other, 'host', 'session:s1', 'once'),
      () => clearRules(other, 'host', 'session:s1'),
      () => removeRule(bench.edges, 'host', 'session:s1', 'once'),
    ]) {
      await add(bench, 'session:s1', counted)
      assert.deepEqual([await deploy(bench), await deploy(bench)], ['registered', 'denied'])
      assert.equal(await used(bench, 'once'), 1)
      await remove()
      assert.equal(await used(bench, 'once'), null)
    }
  })

  behaves('a cleared set is open, and gives none of its ids again', async (bench) => {
    await openSession(bench.edges, 'host', 's1', null)
    await add(bench, 'session:s1', { effect: 'allow', resource: 'tool:other' })
    assert.equal(await add(bench, 'session:s1', { effect: 'deny' }), 'r2')
    const before = await clearRules(bench.edges, 'host', 'session:s1')
    assert.deepEqual(!isRefusal(before) && before.rules.map(({ id }) => id), ['r1', 'r2'])
    assert.equal(await deploy(bench), 'registered')
    const again = await clearRules(bench.edges, 'host', 'session:s1')
    assert.deepEqual(!isRefusal(again) && again.rules, [])
    assert.equal(await add(bench, 'session:s1'), 'r3')
    assert.equal(await deploy(bench), 'asked')
  })

  behaves('an answer to a rule does not answer a later rule of the same id', async (bench) => {
    await openSession(bench.edges, 'host', 's1', null)
    const id = 'deploys'
    for (const given of ['session', 'always'] as const)
      for (const subject of ['home', 'session:s1'])
        for (const remove of [removeRule, clearSet]) {
          await add(bench, subject, { id })
          await grant(bench, given)
          assert.equal(await deploy(bench), 'registered')
          await remove(bench.edges, 'human:ada', subject, id)
          // It answered nothing else.
          const rules = (await bench.store.ask({ ask: 'ruleSets', after: null, limit: 9 })).flatMap(
            (set) => set.rules,
          )
          assert.deepEqual(rules, [])
          await add(bench, subject, { id })
          assert.equal(await deploy(bench), 'asked', `${given} ${subject}`)
          for (const one of ['home', 'session:s1']) await clearRules(bench.edges, 'human:ada', one)
        }
  })

  behaves('an answer to a preset counts until the preset is removed, and not after', async (bench) => {
    await openSession(bench.edges, 'host', 's1', null)
    const preset = (name: 'ask' | 'observe') => setPreset(bench.edges, 'human:ada', 'session:s1', name)
    await preset('ask')
    assert.equal(await deploy(bench), 'asked')
    await grant(bench, 'session')
    await preset('ask')
    assert.equal(await deploy(bench), 'registered')
    await preset('observe')
    await preset('ask')
    assert.equal(await deploy(bench), 'asked')
  })

  behaves('a session that was answered once may leave and delete itself as before', async (bench) => {
    await openSession(bench.edges, 'host', 's1', null)
    await add(bench, 'home')
    await grant(bench, 'session')
    assert.equal((await bench.store.ask({ ask: 'ruleSet', subject: 'session:s1' }))?.rules.length, 1)
    const { record } = await bench.register({ ...OUTSIDE, lifetime: 'detached' }, { actor: ACTOR })
    await bench.performed('appended', { type: 'change_owner', pid: record.pid, owner: {}, actor: ACTOR })
    await markDeleted(bench.edges, ACTOR, 's1')
    assert.notEqual((await bench.store.ask({ ask: 'session', id: 's1' }))?.endedAt, null)
  })
}
