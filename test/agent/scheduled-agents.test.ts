import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { scriptedAgents } from './scripted-agent.ts'

/** The agents of schedules and triggers are made from images, as those that are started at once. */

const DAILY = { type: 'every', everyMs: 86_400_000 } as const
const WAIT_MS = 30_000

function script(workspace: string): string {
  writeFileSync(join(workspace, 'script.json'), JSON.stringify([{ parts: [{ text: 'done' }] }]))
  return 'scripted/script.json'
}

test('the agent of a schedule has what its image says, in the version of its definition', async () => {
  const { reeve, workspace } = await scriptedAgents()
  const image = { name: 'counter', system: 'You count.', models: [script(workspace)], tools: ['list_files'] }
  const { hash } = await reeve.registerImage({ image: { ...image, preset: 'observe' } })
  const spec = { agent: 'one', image: 'counter', goal: 'count' }
  const process = { kind: 'agent', cwd: workspace, spec } as const
  const nightly = { schedule: 'nightly', times: DAILY, process }
  const added = await reeve.addSchedule(nightly)
  await reeve.registerImage({ image: { ...image, system: 'You count twice.' } })
  expect(await reeve.addSchedule(nightly)).toEqual(added)
  const { record } = await reeve.runSchedule({ schedule: 'nightly' })
  await reeve.wait({ pid: record.pid, timeoutMs: WAIT_MS })
  expect(record.spec).toMatchObject({ system: 'You count.', tools: ['list_files'], preset: 'observe' })
  expect((await reeve.inspectAgent({ pid: record.pid })).image).toEqual({ name: 'counter', hash })
  const { process: edited } = await reeve.editSchedule({ schedule: 'nightly', process })
  expect(edited).toMatchObject({ spec: { system: 'You count twice.' } })
})

test('an image that is unknown or untrusted, a model that cannot be opened, and no goal make no schedule and no trigger', async () => {
  const { reeve, workspace } = await scriptedAgents()
  const model = script(workspace)
  mkdirSync(join(workspace, '.reeve', 'agents'), { recursive: true })
  writeFileSync(join(workspace, '.reeve', 'agents', 'cloned.yaml'), `models: [${model}]\n`)
  const source = { type: 'webhook', filter: {} } as const
  for (const [image, code] of [
    [{ image: 'cloned' }, 'untrusted'],
    [{ image: 'unheard-of', model }, 'not_found'],
    [{ model: 'nowhere/model' }, 'invalid_request'],
    [{ model, goal: null }, 'invalid_input'],
  ] as const) {
    const process = { kind: 'agent', cwd: workspace, spec: { agent: 'one', goal: 'go', ...image } } as const
    const refused = { code }
    await expect(reeve.addSchedule({ schedule: 'a', times: DAILY, process })).rejects.toMatchObject(refused)
    await expect(reeve.addTrigger({ trigger: 'a', source, process })).rejects.toMatchObject(refused)
  }
  expect((await reeve.schedules({})).schedules).toEqual([])
  expect((await reeve.triggers({})).triggers).toEqual([])
})

test('what the image of an agent needs beyond the rules of its schedule or trigger is asked for at each occurrence', async () => {
  const { reeve, workspace } = await scriptedAgents()
  await reeve.registerImage({
    image: { name: 'greedy', models: [script(workspace)], needs: ['net:example.com'] },
  })
  await reeve.openSession({ session: 's' })
  const to = { type: 'session', session: 's' } as const
  for (const resource of ['agent:**', 'image:**', 'model:**'])
    await reeve.addRule({ to, rule: { effect: 'allow', resource } })
  const asker = reeve.as('session:s')
  const spec = { agent: 'one', image: 'greedy', goal: 'go' }
  const process = { kind: 'agent', cwd: workspace, spec } as const
  const { next } = await asker.addSchedule({ schedule: 'nightly', times: DAILY, process })
  const source = { type: 'webhook', filter: {} } as const
  await asker.addTrigger({ trigger: 'hook', source, process })
  const ran = [
    (await asker.runSchedule({ schedule: 'nightly' })).record,
    (await asker.runTrigger({ trigger: 'hook' })).record,
    await reeve.show({ pid: next?.pid ?? '' }),
  ]
  expect(ran.map(({ status }) => status)).toEqual(['waiting', 'waiting', 'waiting'])
  const { approvals } = await reeve.approvals({})
  expect(approvals.map(({ pid }) => pid).sort()).toEqual(ran.map(({ pid }) => pid).sort())
  for (const { request } of approvals) expect(JSON.stringify(request)).toContain('read net:example.com')
})

test('the agents of schedules and triggers get the image, goal and budget of the configuration', async () => {
  const { reeve, workspace } = await scriptedAgents({
    agents: { image: 'coder', goal: 'look around', budget: { tokensOut: 5_000 } },
  })
  const process = { kind: 'agent', cwd: workspace, spec: { agent: 'one', model: script(workspace) } } as const
  await reeve.addSchedule({ schedule: 'nightly', times: DAILY, process })
  await reeve.addTrigger({ trigger: 'hook', source: { type: 'webhook', filter: {} }, process })
  const ran = [
    (await reeve.runSchedule({ schedule: 'nightly' })).record,
    (await reeve.runTrigger({ trigger: 'hook' })).record,
  ]
  for (const { pid, spec, limits } of ran) {
    expect(spec['goal']).toContain('look around')
    expect(limits.allowance).toMatchObject({ tokensOut: 5_000 })
    expect((await reeve.inspectAgent({ pid })).image.name).toBe('coder')
  }
})

test('what an agent schedules or triggers is bound by the launch ceiling that the agent has', async () => {
  const { reeve, start } = await scriptedAgents({ tools: { build: () => 'built', deploy: () => 'deployed' } })
  const rules = ['model:**', 'tool:build'].map((resource) => ({ effect: 'allow', resource }))
  const pid = await start([{ parts: [{ text: 'done' }] }], { goal: 'go' }, { ceiling: { rules } })
  await reeve.waitAgent({ pid, turn: 1 })
  const agent = reeve.as(`session:agent:${pid}`)
  const tool = (name: string) => ({ kind: 'tool', spec: { tool: name } }) as const
  const within = await agent.addSchedule({ schedule: 'within', times: DAILY, process: tool('build') })
  expect(within.paused).toBe(null)
  const { record } = await reeve.runSchedule({ schedule: 'within' })
  expect(await reeve.wait({ pid: record.pid, timeoutMs: WAIT_MS })).toMatchObject({
    record: { outcome: { result: 'built' } },
  })
  const beyond = await agent.addSchedule({ schedule: 'beyond', times: DAILY, process: tool('deploy') })
  expect(beyond.paused?.note).toContain('tool:deploy')
  const denied = { code: 'denied' }
  await expect(reeve.runSchedule({ schedule: 'beyond' })).rejects.toMatchObject(denied)
  await agent.addTrigger({
    trigger: 'beyond',
    source: { type: 'webhook', filter: {} },
    process: tool('deploy'),
  })
  await expect(reeve.runTrigger({ trigger: 'beyond' })).rejects.toMatchObject(denied)
})
