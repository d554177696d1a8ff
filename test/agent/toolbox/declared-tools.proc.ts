import { expect, test } from 'vitest'
import { TempReeve } from '../../temp-reeve.ts'

test('beside tools for files, commands and the web, the prompt of an agent declares the one that starts others, and the plan', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  const spec = { agent: 'lead', model: 'scripted/demo', goal: 'look around' }
  const { record } = await reeve.spawn({ kind: 'agent', cwd: temp.folder, spec })
  await reeve.waitAgent({ pid: record.pid, turn: 1 })
  const { tools } = await reeve.inspectAgent({ pid: record.pid })
  const names = tools?.map(({ name }) => name)
  for (const name of ['write_file', 'run_command', 'agent_spawn', 'web_fetch', 'plan', 'tool_search'])
    expect(names).toContain(name)
})
