import { expect, test } from 'vitest'
import type { JsonObject } from '../../src/core/json/json.ts'
import { scriptedAgents } from './scripted-agent.ts'

test('the list of agents says which of them wait for a person, and for what', async () => {
  const { reeve, start } = await scriptedAgents()
  await reeve.addRule({ rule: { effect: 'ask', resource: 'tool:write_file' } })
  const call = (tool: string, input: JsonObject) => [{ parts: [{ tool, input }] }]
  const writes = await start(call('write_file', { path: 'a.txt', content: 'a' }), { goal: 'write' })
  const asks = await start(call('ask_human', { question: 'Which?' }), { goal: 'ask' })
  const says = await start([{ parts: [{ text: 'Done.' }] }], { goal: 'say' })
  await reeve.waitAgent({ pid: says, turn: 1 })
  const waiting = async () => {
    const { agents } = await reeve.agents({})
    return Object.fromEntries(agents.map(({ pid, waitsFor }) => [pid, waitsFor]))
  }
  await expect
    .poll(waiting, { timeout: 20_000 })
    .toEqual({ [writes]: 'approval', [asks]: 'reply', [says]: null })
  await reeve.cancelTurn({ pid: writes })
  await reeve.cancelTurn({ pid: asks })
  await expect.poll(waiting, { timeout: 20_000 }).toEqual({ [writes]: null, [asks]: null, [says]: null })
})
