import { defineTool } from 'reeve'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { HeldModel } from './held-model.ts'
import { scriptedAgents } from './scripted-agent.ts'

const SECRET = `ghp_${'q7Rt2Wx9'.repeat(4)}Zk4p`

test('secrets in the system prompt and in the declarations of tools do not reach the model', async () => {
  const model = new HeldModel()
  const leaky = defineTool({
    name: 'leaky',
    description: `Signs with ${SECRET}.`,
    input: z.object({ key: z.string().default(SECRET).describe(`for example ${SECRET}`) }),
    run: () => 'x',
  })
  const { reeve, workspace } = await scriptedAgents({ models: { 'my/model': model }, tools: [leaky] })
  const spec = { agent: 'helper', model: 'my/model', system: `Use ${SECRET} to sign.`, goal: 'go' }
  const { record } = await reeve.spawn({ kind: 'agent', cwd: workspace, spec })
  const call = await model.next()
  expect(call.prompt).toMatch(/Use .* to sign\./)
  expect(call.tools).toContain('Signs with')
  expect(call.prompt + call.tools).not.toContain(SECRET)
  call.answer('done')
  await reeve.waitAgent({ pid: record.pid, turn: 1 })
})
