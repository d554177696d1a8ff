import { expect, test } from 'vitest'
import { HeldModel } from './held-model.ts'
import { scriptedAgents } from './scripted-agent.ts'

const SECRET = `ghp_${'q7Rt2Wx9'.repeat(4)}Zk4p`

async function idleAgent() {
  const model = new HeldModel()
  const agents = await scriptedAgents({ models: { 'my/model': model } })
  const { reeve, workspace } = agents
  const spec = { agent: 'helper', model: 'my/model' }
  const { record } = await reeve.spawn({ kind: 'agent', cwd: workspace, spec })
  return { reeve, model, pid: record.pid }
}

test('an agent reads a message to it, and its secrets are masked where the entry is stored', async () => {
  const { reeve, model, pid } = await idleAgent()
  const value = { note: `the key is ${SECRET}`, from: 'the other side' }
  await reeve.sendMessage({ to: `process:${pid}`, value, channel: 'news' })
  const call = await model.next()
  expect(call.prompt).toContain('the other side')
  expect(call.prompt).toContain('channel news')
  expect(call.prompt).not.toContain(SECRET)
  call.answer('read')
  await reeve.waitAgent({ pid, turn: 1 })
})

test('secrets in inputs, notices and the goal are masked before they are stored', async () => {
  const { reeve, model, pid } = await idleAgent()
  const first = await reeve.runAgent({ pid, id: 'one', text: `use ${SECRET} now` })
  const call = await model.next()
  expect(call.prompt).toMatch(/use \S+ now/)
  expect(call.prompt).not.toContain(SECRET)
  await reeve.notifyAgent({ pid, text: `or ${SECRET}` })
  call.answer('no')
  const second = await model.next()
  expect(second.prompt).toMatch(/or /)
  expect(second.prompt).not.toContain(SECRET)
  second.answer('no')
  await reeve.waitAgent({ pid, turn: 1 })
  expect(await reeve.runAgent({ pid, id: 'one', text: `use ${SECRET} now` })).toEqual(first)
  const spec = { agent: 'other', model: 'my/model', goal: `sign with ${SECRET}` }
  const other = await reeve.spawn({ kind: 'agent', spec })
  const third = await model.next()
  expect(third.prompt).toContain('sign with')
  expect(third.prompt).not.toContain(SECRET)
  third.answer('no')
  await reeve.waitAgent({ pid: other.record.pid, turn: 1 })
})
