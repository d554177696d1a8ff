import { MemoryTables, openMemory } from 'reeve/testing'
import { expect, test } from 'vitest'
import { isRefusal } from '../../src/core/refusal.ts'
import { addRule, removeRule } from '../../src/kernel/policies.ts'
import { register } from '../../src/kernel/register.ts'
import { openSession } from '../../src/kernel/sessions.ts'
import { testEdges } from '../../src/testing/test-edges.ts'

test('the id of a removed rule is not given again, so that a new rule begins with all its uses', async () => {
  const edges = testEdges(await openMemory({ shared: new MemoryTables() }))
  await openSession(edges, 'host', 's1', null)
  const allow = { effect: 'allow', rights: ['execute'], resource: 'tool:deploy', uses: 1 } as const
  const add = async () => {
    const rule = await addRule(edges, 'host', 'session:s1', (id) => ({ ...allow, id }))
    return isRefusal(rule) ? rule.code : rule.id
  }
  const deploy = async () => {
    const request = { kind: 'tool', spec: { tool: 'deploy' } } as const
    const registered = await register(edges, [{ request, actor: 'session:s1' }], 'no-environment')
    return isRefusal(registered) ? registered.code : 'registered'
  }
  expect(await add()).toBe('r1')
  expect([await deploy(), await deploy()]).toEqual(['registered', 'denied'])
  await removeRule(edges, 'host', 'session:s1', 'r1')
  expect(await add()).toBe('r2')
  expect([await deploy(), await deploy()]).toEqual(['registered', 'denied'])
  await removeRule(edges, 'host', 'session:s1', 'r2')
  await removeRule(edges, 'host', 'session:s1', 'r1')
  expect(await add()).toBe('r3')
})
