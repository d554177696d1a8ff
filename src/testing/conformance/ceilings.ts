import assert from 'node:assert/strict'
import type { Rule } from '../../core/capability/rule.ts'
import type { JsonObject } from '../../core/json/json.ts'
import type { Pid } from '../../core/process/pid.ts'
import type { RegistrationRequest } from '../../core/process/register.ts'
import { isRefusal } from '../../core/refusal.ts'
import { answer, requestOf, setUp } from './asked-deploys.ts'
import { changeRules, ruleSet } from './authority-rows.ts'
import { type Behaves, type Bench, refusalOf, times } from './bench.ts'

const WORKFLOW: RegistrationRequest = { kind: 'workflow', spec: { workflow: 'agent' } }

const tool = (name: string): RegistrationRequest => ({ kind: 'tool', spec: { tool: name } })

const allow = (resource: string) => ({ effect: 'allow', resource })

/** Launch ceilings: given with a registration, kept in every record below it, and stronger than every grant inside of the tree. */
export function ceilings(behaves: Behaves): void {
  const ceiling = { rules: [allow('workflow:agent'), allow('tool:read')] }
  /** A root with a ceiling, and processes below it, each started by the one above. The last one is the deepest. */
  const generations = async (bench: Bench, count: number): Promise<Pid> => {
    let { pid } = (await bench.register({ ...WORKFLOW, ceiling })).record
    for (const _ of times(count)) {
      const request = { ...WORKFLOW, parent: pid }
      pid = (await bench.register(request, { actor: `process:${pid}` })).record.pid
    }
    return pid
  }
  const calls = (bench: Bench, pid: Pid, name: string) =>
    bench.tryRegister([{ request: { ...tool(name), parent: pid }, actor: `process:${pid}` }])

  behaves('a ceiling holds in the tenth generation, despite grants below it', async (bench) => {
    const deepest = await generations(bench, 10)
    const everything = ['tool:*', 'workflow:*'].map(
      (resource): Rule => ({ id: resource, effect: 'allow', rights: ['execute'], resource }),
    )
    await changeRules(bench.store, `process:${deepest}`, () => ({
      ...ruleSet(`process:${deepest}`),
      rules: everything,
    }))
    assert.ok(!isRefusal(await calls(bench, deepest, 'read')))
    assert.equal(refusalOf(await calls(bench, deepest, 'deploy')), 'denied')
    const { items } = await bench.store.ask({ ask: 'audit', after: null, limit: 100 })
    const last = JSON.parse(items.at(-1)?.text ?? '{}')
    assert.equal(last.decision, 'denied')
  })

  behaves(
    'a narrower ceiling below another one holds as well, and a wider one gives nothing',
    async (bench) => {
      const root = (await bench.register({ ...WORKFLOW, ceiling })).record
      const below = async (rules: readonly JsonObject[]) => {
        const request = { ...WORKFLOW, parent: root.pid, ceiling: { rules } }
        return (await bench.register(request, { actor: `process:${root.pid}` })).record
      }
      const narrower = await below([])
      assert.equal(refusalOf(await calls(bench, narrower.pid, 'read')), 'denied')
      const wider = await below([allow('tool:*')])
      assert.ok(!isRefusal(await calls(bench, wider.pid, 'read')))
      assert.equal(refusalOf(await calls(bench, wider.pid, 'deploy')), 'denied')
      assert.deepEqual(
        wider.ceilings?.map(({ givenTo }) => givenTo),
        [root.pid, wider.pid],
      )
      assert.deepEqual((await bench.row(wider.pid)).record.ceilings, wider.ceilings)
    },
  )

  behaves('a restart keeps its ceilings, also when its parent has ended', async (bench) => {
    const deepest = await generations(bench, 2)
    const again = await bench.register({ ...WORKFLOW, restartOf: deepest }, { actor: 'kernel:k1' })
    assert.deepEqual(again.record.ceilings, (await bench.row(deepest)).record.ceilings)
    assert.equal(refusalOf(await calls(bench, again.record.pid, 'deploy')), 'denied')
  })

  behaves('a ceiling binds the tools below a tool, also without a session', async (bench) => {
    const caller = (await bench.register({ ...tool('call'), ceiling: { rules: [allow('tool:read')] } }))
      .record
    assert.ok(!isRefusal(await calls(bench, caller.pid, 'read')))
    assert.equal(refusalOf(await calls(bench, caller.pid, 'deploy')), 'denied')
    const command = { kind: 'command', spec: { run: 'true' }, parent: caller.pid } as const
    const actor = `process:${caller.pid}` as const
    assert.equal(refusalOf(await bench.tryRegister([{ request: command, actor }])), 'denied')
    // The host acts for itself.
    assert.ok(!isRefusal(await bench.tryRegister([{ request: { ...tool('deploy'), parent: caller.pid } }])))
  })

  behaves('a restart by a kernel is denied by the ceilings that it keeps', async (bench) => {
    const root = (await bench.register({ ...tool('call'), ceiling: { rules: [] } })).record
    const old = (await bench.register({ ...tool('deploy'), parent: root.pid })).record
    const request = { ...tool('deploy'), restartOf: old.pid }
    assert.equal(refusalOf(await bench.tryRegister([{ request, actor: 'kernel:k1' }])), 'denied')
  })

  behaves('a ceiling without the right to approve takes it from every process below', async (bench) => {
    await setUp(bench)
    const session = 'session:s2'
    const approver: Rule = { id: 'a1', effect: 'allow', rights: ['approve'], resource: 'session:s1' }
    const agent: Rule = { id: 'a2', effect: 'allow', rights: ['execute'], resource: 'workflow:agent' }
    await changeRules(bench.store, session, () => ({ ...ruleSet(session), rules: [approver, agent] }))
    const { id } = await requestOf(bench, 'a')
    const below = async (given: typeof ceiling) => {
      const owner = { session: 's2' }
      const root = (await bench.register({ ...WORKFLOW, owner, ceiling: given })).record.pid
      const request = { ...WORKFLOW, owner, parent: root }
      return (await bench.register(request, { actor: `process:${root}` })).record.pid
    }
    const yes = { type: 'approve', grant: 'once' } as const
    const denied = await answer(bench, id, yes, `process:${await below(ceiling)}`)
    assert.equal(denied.type === 'refused' && denied.refusal.code, 'denied')
    const approving = { effect: 'allow', rights: ['approve'], resource: 'session:s1' }
    const wider = { rules: [...ceiling.rules, approving] }
    await changeRules(bench.store, session, () => ({ ...ruleSet(session), rules: [agent] }))
    const without = await answer(bench, id, yes, `process:${await below(wider)}`)
    assert.equal(without.type === 'refused' && without.refusal.code, 'denied')
    await changeRules(bench.store, session, () => ({ ...ruleSet(session), rules: [approver, agent] }))
    assert.equal((await answer(bench, id, yes, `process:${await below(wider)}`)).type, 'settled')
  })

  behaves('a request with another ceiling is another request', async (bench) => {
    const request = { ...WORKFLOW, ceiling }
    const first = await bench.register(request, { idempotencyKey: 'once' })
    const repeat = await bench.tryRegister([{ request, idempotencyKey: 'once' }])
    assert.ok(!isRefusal(repeat))
    assert.equal(repeat[0]?.type, 'existing')
    const other = { ...WORKFLOW, ceiling: { rules: [allow('tool:*')] } }
    assert.equal(refusalOf(await bench.tryRegister([{ request: other, idempotencyKey: 'once' }])), 'conflict')
    assert.equal((await bench.row(first.record.pid)).record.ceilings?.length, 1)
  })
}
