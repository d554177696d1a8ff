import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openSqlite } from '../../src/store/sqlite/open.ts'
import { forgetfulStore } from '../forgetful-store.ts'
import { tempStore } from '../temp-folder.ts'
import { HeldModel } from './held-model.ts'
import { payloads, scriptedAgents } from './scripted-agent.ts'

/** An idle agent after its first turn. */
async function afterFirstTurn() {
  const model = new HeldModel()
  const { reeve, workspace } = await scriptedAgents({ models: { 'my/model': model } })
  const spec = { agent: 'helper', model: 'my/model' }
  const { record } = await reeve.spawn({ kind: 'agent', cwd: workspace, spec })
  const { pid } = record
  await reeve.runAgent({ pid, text: 'hi' })
  ;(await model.next()).answer('hello')
  await reeve.waitAgent({ pid, turn: 1 })
  return { reeve, pid, model }
}

test('a cancelled compaction is charged as an estimate: the model has worked for it', async () => {
  const { reeve, pid, model } = await afterFirstTurn()
  await reeve.compactAgent({ pid })
  await model.next()
  await reeve.cancelTurn({ pid })
  await expect.poll(async () => (await payloads(reeve, pid, 'model_used')).length).toBe(2)
  const used = await payloads(reeve, pid, 'model_used')
  expect(used).toMatchObject([{ turn: 1 }, { turn: 2, call: 1, isEstimate: true }])
  expect(used[1]?.['inputTokens']).toBeGreaterThan(50)
})

test('a cancelled check of a goal is charged as an estimate', async () => {
  const { reeve, pid, model } = await afterFirstTurn()
  await reeve.runAgent({ pid, text: 'do it', until: { type: 'model', check: 'it is done' } })
  ;(await model.next()).answer('I tried.')
  expect((await model.next()).prompt).toContain('Judge whether this holds: it is done')
  await reeve.cancelTurn({ pid })
  await expect.poll(async () => (await payloads(reeve, pid, 'model_used')).length).toBe(3)
  const used = await payloads(reeve, pid, 'model_used')
  expect(used).toMatchObject([{ turn: 1 }, { turn: 2, call: 1 }, { turn: 2, call: 0, isEstimate: true }])
})

test.each([
  ['cancel', 'turn_ended'],
  ['pause', 'paused'],
] as const)('a %s whose event the feed lost aborts the running model call', async (how, forgotten) => {
  const store = await openSqlite(tempStore())
  onTestFinished(() => store.close())
  const model = new HeldModel()
  const { reeve, workspace } = await scriptedAgents({
    store: forgetfulStore(store, (type) => type === forgotten),
    models: { 'my/model': model },
  })
  const spec = { agent: 'helper', model: 'my/model', goal: 'go' }
  const { record } = await reeve.spawn({ kind: 'agent', cwd: workspace, spec })
  const { pid } = record
  const call = await model.next()
  call.begin()
  await expect.poll(async () => (await payloads(reeve, pid, 'output_begun')).length).toBe(1)
  const aborted = once(call.abortSignal, 'abort')
  if (how === 'cancel') expect(await reeve.cancelTurn({ pid })).toMatchObject({ type: 'cancelled' })
  else expect(await reeve.pauseAgent({ pid })).toMatchObject({ type: 'paused' })
  await aborted
})

test.each(['cancelTurn', 'shutDownAgent'] as const)(
  'a call that waits for an approval is withdrawn by %s, and its result says that it never began',
  async (verb) => {
    const { reeve, workspace, start } = await scriptedAgents()
    await reeve.addRule({ rule: { effect: 'ask', resource: 'tool:write_file' } })
    const input = { path: 'a.txt', content: 'a' }
    const pid = await start([{ parts: [{ tool: 'write_file', input }] }], { goal: 'write it' })
    const pending = async () => (await reeve.approvals({ state: 'pending' })).approvals
    await expect.poll(async () => (await pending()).length).toBe(1)
    await reeve[verb]({ pid })
    expect(await pending()).toEqual([])
    expect(await payloads(reeve, pid, 'tool_answered')).toMatchObject([
      {
        isError: true,
        interrupted: true,
        parts: [{ text: 'Withdrawn while it waited for an approval; it never began.' }],
      },
    ])
    const { processes } = await reeve.list({ filter: { parent: [pid], kind: ['tool'], status: 'any' } })
    expect(processes).toMatchObject([{ record: { status: 'cancelled', outcome: { startedAt: null } } }])
    expect(existsSync(join(workspace, 'a.txt'))).toBe(false)
  },
)
