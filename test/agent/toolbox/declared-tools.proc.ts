import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { TempReeve } from '../../temp-reeve.ts'

test('beside tools for files, commands, the web and skills, the prompt of an agent declares the plan and the tool that starts others', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  const path = join(temp.folder, '.reeve/skills/deploy')
  mkdirSync(path, { recursive: true })
  writeFileSync(join(path, 'SKILL.md'), '---\nname: deploy\ndescription: Deploys it.\n---\nDeploy.\n')
  const { file } = await reeve.agentFile({ path })
  await reeve.trustFile({ path, hash: file.hash })
  const spec = { agent: 'lead', model: 'scripted/demo', goal: 'look around' }
  const { record } = await reeve.spawn({ kind: 'agent', cwd: temp.folder, spec })
  await reeve.waitAgent({ pid: record.pid, turn: 1 })
  const { tools } = await reeve.inspectAgent({ pid: record.pid })
  const names = tools?.map(({ name }) => name)
  const needed = ['write_file', 'run_command', 'agent_spawn', 'web_fetch', 'plan', 'tool_search', 'use_skill']
  for (const name of needed) expect(names).toContain(name)
})
