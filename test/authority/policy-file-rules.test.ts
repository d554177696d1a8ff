import { createHash } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { embedTemp } from '../embed-temp.ts'
import { tempFolder } from '../temp-folder.ts'

/** A session that works in a folder with a policy file, which a person trusts whenever it is written. */
async function working() {
  const folder = tempFolder()
  mkdirSync(join(folder, '.reeve'))
  const reeve = await embedTemp({ tools: { deploy: () => null } })
  const write = async (rules: readonly object[]) => {
    const text = JSON.stringify({ rules })
    writeFileSync(join(folder, '.reeve', 'policy.json'), text)
    await reeve.trustPolicy({ folder, hash: createHash('sha256').update(text).digest('hex') })
  }
  await reeve.openSession({ session: 's1', workspace: folder })
  const agent = reeve.as('session:s1')
  const deploy = async () => (await agent.spawn({ kind: 'tool', spec: { tool: 'deploy' } })).record
  return { reeve, write, deploy }
}

const ASK = { effect: 'ask', resource: 'tool:deploy' }

test('an answer for the session does not answer another rule that takes the place of the one that asked', async () => {
  const { reeve, write, deploy } = await working()
  await write([ASK])
  const { pid, gate } = await deploy()
  await reeve.approve({ id: gate?.approval ?? '', grant: 'session' })
  await reeve.wait({ pid })
  expect((await deploy()).gate).toBe(null)
  await write([{ effect: 'ask', resource: 'tool:*' }])
  expect((await deploy()).gate?.state).toBe('pending')
})

test('an answer still counts when other rules come before the one that asked, or its reason changes', async () => {
  const { reeve, write, deploy } = await working()
  await write([ASK])
  await reeve.approve({ id: (await deploy()).gate?.approval ?? '', grant: 'session' })
  await write([
    { effect: 'deny', resource: 'tool:remove' },
    { ...ASK, justification: 'reviewed' },
  ])
  expect((await deploy()).gate).toBe(null)
})
