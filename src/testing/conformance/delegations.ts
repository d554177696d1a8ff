import assert from 'node:assert/strict'
import { parseRule } from '../../core/capability/parse-rule.ts'
import type { Pid } from '../../core/process/pid.ts'
import type { Actor } from '../../core/process/record.ts'
import { isRefusal } from '../../core/refusal.ts'
import { delegateRule, revokeDelegated } from '../../kernel/delegations.ts'
import { addRule, clearRules, removeRule, setPreset } from '../../kernel/policies.ts'
import { prune } from '../../kernel/prune.ts'
import { openSession } from '../../kernel/sessions.ts'
import { type Behaves, type Bench, OUTSIDE, refusalOf } from './bench.ts'
import { auditedEntries } from './sound.ts'

const AGENT = { kind: 'workflow', spec: { workflow: 'agent' } } as const

const given =
  (json: { readonly [key: string]: string | number | readonly string[] | object }) => (id: string) =>
    parseRule(JSON.parse(JSON.stringify({ effect: 'allow', ...json })), id)

/** Rules that subjects pass on, presets, and their removal. */
export function delegations(behaves: Behaves): void {
  /** A session with a delegable allow, an agent in it, and a helper that the agent started. */
  const family = async (bench: Bench) => {
    const { edges } = bench
    await openSession(edges, 'host', 's1', null)
    const agent = (await bench.register(AGENT, { actor: 'session:s1' })).record.pid
    const helper = (await bench.register({ ...AGENT, parent: agent }, { actor: `process:${agent}` })).record
      .pid
    const all = { resource: 'tool:**', delegable: { depth: 3 } }
    await addRule(edges, 'host', 'session:s1', given(all))
    await addRule(edges, 'host', 'session:s1', given({ resource: 'workflow:**', delegable: { depth: 3 } }))
    return { edges, agent, helper }
  }
  const calls = async (bench: Bench, pid: Pid, name: string) => {
    const request = { kind: 'tool', spec: { tool: name }, parent: pid } as const
    const answer = await bench.tryRegister([{ request, actor: `process:${pid}` }])
    return isRefusal(answer) ? refusalOf(answer) : 'registered'
  }
  const passOn = (bench: Bench, actor: Actor, to: string, rule: Parameters<typeof given>[0]) =>
    delegateRule(bench.edges, { actor, from: null, to, ruleOf: given(rule) })

  behaves('a subject passes on less than it holds, and revoking a link stops a grandchild', async (bench) => {
    const { edges, agent, helper } = await family(bench)
    const first = await passOn(bench, 'session:s1', `process:${agent}`, {
      resource: 'tool:db/**',
      delegable: { depth: 1 },
    })
    assert.ok(!isRefusal(first))
    const second = await passOn(bench, `process:${agent}`, `process:${helper}`, { resource: 'tool:db/read' })
    assert.ok(!isRefusal(second))
    assert.equal(await calls(bench, helper, 'db/read'), 'registered')
    assert.equal(await calls(bench, helper, 'db/drop'), 'denied')
    await revokeDelegated(edges, 'session:s1', `process:${agent}`, first.id)
    assert.equal(await calls(bench, helper, 'db/read'), 'denied')
    const entries = await auditedEntries(bench.store)
    assert.deepEqual(
      entries.flatMap(({ action, actor, target }) =>
        action === 'delegate' || action === 'revokeDelegated' ? [[action, actor, target]] : [],
      ),
      [
        ['delegate', 'session:s1', `process:${agent}`],
        ['delegate', `process:${agent}`, `process:${helper}`],
        ['revokeDelegated', 'session:s1', `process:${agent}`],
      ],
    )
  })

  behaves('a session passes on rules to a session below it, and to no other', async (bench) => {
    const { edges } = await family(bench)
    await openSession(edges, 'host', 'below', null, undefined, undefined, 's1')
    await openSession(edges, 'host', 'other', null)
    const read = { resource: 'tool:db/read' }
    const isPassedOn = async (actor: Actor, to: string) => !isRefusal(await passOn(bench, actor, to, read))
    assert.equal(await isPassedOn('session:s1', 'session:below'), true)
    assert.equal(await isPassedOn('session:s1', 'session:other'), false)
    assert.equal(await isPassedOn('session:below', 'session:s1'), false)
  })

  behaves(
    'removing the rule at the top of a chain disables everything below, with no other write',
    async (bench) => {
      const { edges, agent, helper } = await family(bench)
      await passOn(bench, 'session:s1', `process:${agent}`, {
        resource: 'tool:db/**',
        delegable: { depth: 1 },
      })
      await passOn(bench, `process:${agent}`, `process:${helper}`, { resource: 'tool:db/read' })
      const before = await edges.store.ask({ ask: 'ruleSet', subject: `process:${helper}` })
      assert.equal(await calls(bench, helper, 'db/read'), 'registered')
      await removeRule(edges, 'host', 'session:s1', 'r1')
      assert.equal(await calls(bench, helper, 'db/read'), 'denied')
      assert.deepEqual(await edges.store.ask({ ask: 'ruleSet', subject: `process:${helper}` }), before)
    },
  )

  behaves('nothing wider, nothing of others and nothing to others is delegated', async (bench) => {
    const { edges, agent, helper } = await family(bench)
    await openSession(edges, 'host', 's2', null)
    const stranger = (await bench.register(AGENT, { actor: 'session:s2' })).record.pid
    const rule = { resource: 'tool:db/**' }
    const refused = async (answer: ReturnType<typeof passOn>) => {
      const found = await answer
      assert.ok(isRefusal(found))
      return found.code
    }
    await passOn(bench, 'session:s1', `process:${agent}`, rule)
    const wider = { resource: 'tool:**' }
    assert.equal(await refused(passOn(bench, `process:${agent}`, `process:${helper}`, wider)), 'denied')
    // Not delegable any further.
    assert.equal(await refused(passOn(bench, `process:${agent}`, `process:${helper}`, rule)), 'denied')
    assert.equal(await refused(passOn(bench, 'session:s1', `process:${stranger}`, rule)), 'denied')
    assert.equal(await refused(passOn(bench, 'session:s1', 'session:s2', rule)), 'denied')
    assert.equal(await refused(passOn(bench, 'session:s1', 'session:s1', rule)), 'invalid_input')
    assert.equal(await refused(passOn(bench, 'host', `process:${helper}`, rule)), 'invalid_input')
    const asSession = { actor: `process:${agent}`, from: 'session:s1', to: `process:${helper}` } as const
    assert.equal(await refused(delegateRule(edges, { ...asSession, ruleOf: given(rule) })), 'denied')
    const taken = await revokeDelegated(edges, 'session:s2', `process:${agent}`, 'r1')
    assert.equal(isRefusal(taken) && taken.code, 'not_found')
    assert.equal(await edges.store.ask({ ask: 'ruleSet', subject: `process:${helper}` }), null)
  })

  behaves('the rules of a process bind what is below it, and go with it', async (bench) => {
    const { edges, agent, helper } = await family(bench)
    await addRule(edges, 'host', `process:${agent}`, (id) =>
      parseRule({ effect: 'deny', resource: 'tool:deploy' }, id),
    )
    assert.equal(await calls(bench, helper, 'deploy'), 'denied')
    assert.equal(await calls(bench, helper, 'read'), 'registered')
    const missing = await addRule(edges, 'host', 'process:p_nope', given({ resource: 'tool:x' }))
    assert.equal(isRefusal(missing) && missing.code, 'unknown_pid')
    const alone = (await bench.register(OUTSIDE)).record.pid
    await addRule(edges, 'host', `process:${alone}`, given({ resource: 'tool:x' }))
    await bench.performed('appended', { type: 'request_abandon', pid: alone, reason: 'gone' })
    await prune(edges, { pids: [alone] })
    assert.equal(await edges.store.ask({ ask: 'ruleSet', subject: `process:${alone}` }), null)
  })

  behaves(
    'a preset replaces an earlier one, and its removal leaves the set as open as it was',
    async (bench) => {
      const { edges } = bench
      await openSession(edges, 'host', 's1', null)
      const rulesOf = async () =>
        (await edges.store.ask({ ask: 'ruleSet', subject: 'session:s1' }))?.rules ?? []
      await addRule(edges, 'host', 'session:s1', (id) => parseRule({ effect: 'ask', resource: 'tool:x' }, id))
      await setPreset(edges, 'human:ada', 'session:s1', 'observe')
      await setPreset(edges, 'human:ada', 'session:s1', 'full')
      assert.deepEqual([...new Set((await rulesOf()).map(({ preset }) => preset))], [undefined, 'full'])
      const opened = await setPreset(edges, 'human:ada', 'session:s1', null)
      assert.ok(!isRefusal(opened))
      assert.deepEqual([opened.closed, opened.rules.length], [false, 1])
      const unknown = await setPreset(edges, 'human:ada', 'session:none', 'full')
      assert.equal(isRefusal(unknown) && unknown.code, 'session_unknown')
    },
  )

  behaves(
    'a set that was closed by an allow is opened by clearing it, and by nothing else',
    async (bench) => {
      const { edges } = bench
      await openSession(edges, 'host', 's1', null)
      await addRule(edges, 'host', 'session:s1', given({ resource: 'tool:x' }))
      await removeRule(edges, 'host', 'session:s1', 'r1')
      assert.equal((await edges.store.ask({ ask: 'ruleSet', subject: 'session:s1' }))?.closed, true)
      const cleared = await clearRules(edges, 'human:ada', 'session:s1')
      assert.ok(!isRefusal(cleared))
      const open = await edges.store.ask({ ask: 'ruleSet', subject: 'session:s1' })
      assert.deepEqual([open?.closed, open?.rules], [false, []])
      await addRule(edges, 'host', 'session:s1', (id) =>
        parseRule({ effect: 'deny', resource: 'tool:x', revocable: false }, id),
      )
      const kept = await clearRules(edges, 'human:ada', 'session:s1')
      assert.equal(isRefusal(kept) && kept.code, 'conflict')
    },
  )
}
