import { expect, test } from 'vitest'
import { CommandLine } from './command-line.ts'

test('show, ps and tree print allowances and their use, and nothing for processes without an allowance', async () => {
  const reeve = new CommandLine()
  await reeve.run(['run', '-d', '--name', 'plain', 'sleep', '1000'])
  expect((await reeve.run(['ps'])).stdout).not.toMatch(/USED/)
  expect((await reeve.run(['show', 'plain'])).stdout).not.toMatch(/used/)

  await reeve.run(['session', 'open', 's1', '--allow', 'toolCalls=40', '--allow', 'cost=2.5'])
  await reeve.run(['run', '-d', '--name', 'top', '--session', 's1', '--allow', 'cost=1', 'sleep', '1000'])
  await reeve.run(['run', '-d', '--name', 'below', '--parent', 'top', 'sleep', '1000'])
  const charged = await reeve.run(['call', 'charge', '{"pid":"below","amounts":{"toolCalls":3,"cost":0.25}}'])
  expect(charged.code).toBe(0)

  const shown = (await reeve.run(['show', 'top'])).stdout
  expect(shown).toMatch(/used in all +3 of 20 tool calls, 0.25 of 1 cost, 1 children/)
  expect(shown).toMatch(/left +10 tool calls, 0.5 cost/)
  expect((await reeve.run(['ps'])).stdout).toMatch(/below .* cost 0.25\/0.5, tools 3\/10 {2}/)
  expect((await reeve.run(['ps'])).stdout).toMatch(/top .* cost 0.25\/1, tools 3\/20 \+1 {2}/)
  const narrow = reeve.terminal(['ps'])
  await narrow.ended
  const lines = narrow.shown.trimEnd().split('\r\n')
  expect(lines).toHaveLength(4)
  for (const line of lines) expect(line.length).toBeLessThanOrEqual(80)
  expect(lines[2]).toMatch(/sleep 1000$/)
  expect((await reeve.run(['tree', 'top'])).stdout).toMatch(/└─ below .*\(3 of 10 tool calls/)
  const [listed] = await reeve.json<{ budget: { total: unknown } }[]>('ps', '--name', 'top')
  expect(listed?.budget.total).toEqual({ toolCalls: 3, cost: 0.25, children: 1 })
})

test('the list of sessions prints their allowances and use', async () => {
  const reeve = new CommandLine()
  await reeve.run(['session', 'open', 's1'])
  expect((await reeve.run(['session', 'list'])).stdout).not.toMatch(/BUDGET/)
  await reeve.run(['session', 'open', 's2', '--allow', 'cost=2.5'])
  await reeve.run(['run', '--session', 's1', '--', 'printf', '12345'])
  const { stdout } = await reeve.run(['session', 'list'])
  expect(stdout).toMatch(/^s1 .* 5 B of output/m)
  expect(stdout).toMatch(/^s2 .* 0 of 2.5 cost/m)
  const listed = await reeve.json<{ budget: { total: { outputBytes?: number } } }[]>('session', 'list')
  expect(listed.map(({ budget }) => budget.total.outputBytes)).toEqual([5, undefined])
})

test('a command that exceeds its output allowance is reported, and does not exit with 0', async () => {
  const reeve = new CommandLine()
  const { code, stderr } = await reeve.run(['run', '--allow', 'outputBytes=20', '--', 'seq', '100'])
  expect(stderr).toContain('limit:outputBytes')
  // It is through at once: it may have ended by itself, and well, before it could be ended.
  expect([1, 128 + 15]).toContain(code)
})

test('an allowance beyond the rest, and one that is not an amount, are refused', async () => {
  const reeve = new CommandLine()
  await reeve.run(['session', 'open', 's1', '--allow', 'cost=1'])
  const refused = await reeve.run(['run', '-d', '--session', 's1', '--allow', 'cost=2', 'true'])
  expect(refused).toMatchObject({
    code: 125,
    stderr: expect.stringContaining('limit:cost of session s1: 1 left'),
  })
  expect(await reeve.run(['run', '-d', '--allow', 'cost', 'true'])).toMatchObject({ code: 125 })
  expect(await reeve.run(['session', 'open', 's2', '--allow', 'costs=1'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('did you mean cost'),
  })
})

test('reeve agent show prints what the agent has used, and what is left of its allowance', async () => {
  const reeve = new CommandLine()
  const words = [
    'agent',
    '-d',
    '--name',
    'small',
    '--model',
    'scripted/demo',
    '--allow',
    'modelCalls=5',
    'hi',
  ]
  expect((await reeve.run(words)).code).toBe(0)
  const listed = async () => (await reeve.run(['agent', 'list'])).stdout
  await expect.poll(listed, { timeout: 60_000 }).toContain('idle')
  const { stdout } = await reeve.run(['agent', 'show', 'small'])
  expect(stdout).toMatch(/^used +2 of 5 model calls, /m)
  expect(stdout).toMatch(/^left +3 model calls$/m)
})
