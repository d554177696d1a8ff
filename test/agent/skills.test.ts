import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { JsonObject } from '../../src/core/json/json.ts'
import type { Embedded } from '../../src/embed/embed.ts'
import { payloads, scriptedAgents } from './scripted-agent.ts'

const text = (said: string) => ({ parts: [{ text: said }] })
const use = (input: JsonObject) => ({ parts: [{ tool: 'use_skill', input }] })

/** A skill in a workspace; returns its folder. */
function skillIn(workspace: string, { name = 'release', more = '', folder = '.claude' } = {}): string {
  const path = join(workspace, folder, 'skills', name)
  mkdirSync(join(path, 'scripts'), { recursive: true })
  writeFileSync(
    join(path, 'SKILL.md'),
    `---\nname: ${name}\ndescription: How to release: step by step\n${more}---\nTag it, then publish it.\n`,
  )
  writeFileSync(join(path, 'scripts', 'tag.sh'), 'git tag "$1"\n')
  return path
}

async function trust(reeve: Embedded, path: string): Promise<void> {
  const { file } = await reeve.agentFile({ path })
  await reeve.trustFile({ path, hash: file.hash })
}

async function systemOf(reeve: Embedded, pid: string): Promise<string> {
  return JSON.stringify(await payloads(reeve, pid, 'segment_begun'))
}

test.each(['.claude', '.reeve'])(
  'a trusted skill of %s is named in the prompt, and its text comes when it is used',
  async (folder) => {
    const { reeve, workspace, start } = await scriptedAgents()
    await trust(reeve, skillIn(workspace, { folder }))
    const script = [use({ name: 'release' }), use({ name: 'release', file: 'scripts/tag.sh' }), text('done')]
    const pid = await start(script, { goal: 'release it' })
    await reeve.waitAgent({ pid, turn: 1 })
    const system = await systemOf(reeve, pid)
    expect(system).toContain('- release: How to release: step by step')
    expect(system).not.toContain('then publish it')
    const [body, file] = (await payloads(reeve, pid, 'tool_answered')).map((one) => JSON.stringify(one))
    expect(body).toContain('Tag it, then publish it.')
    expect(body).toContain('scripts/tag.sh')
    expect(file).toContain('git tag')
  },
)

test('a skill that no person trusts is neither named nor loaded', async () => {
  const { reeve, workspace, start } = await scriptedAgents()
  skillIn(workspace)
  const pid = await start([use({ name: 'release' }), text('done')], { goal: 'release it' })
  await reeve.waitAgent({ pid, turn: 1 })
  expect(await systemOf(reeve, pid)).not.toContain('release: How to')
  const [answered] = await payloads(reeve, pid, 'tool_answered')
  expect(answered).toMatchObject({ isError: true })
  expect(JSON.stringify(answered)).not.toContain('then publish it')
})

test.each(['SKILL.md', 'scripts/tag.sh', 'new.txt'])(
  'a skill of which %s has changed is not loaded until it is trusted again',
  async (name) => {
    const { reeve, workspace, start } = await scriptedAgents()
    await trust(reeve, skillIn(workspace, { name: 'other' }))
    const path = skillIn(workspace)
    await trust(reeve, path)
    writeFileSync(join(path, name), '---\ndescription: Changed\n---\nSomething else.\n')
    const first = await start([use({ name: 'release' }), text('done')], { goal: 'go' })
    await reeve.waitAgent({ pid: first, turn: 1 })
    const [refused] = await payloads(reeve, first, 'tool_answered')
    expect(refused).toMatchObject({ isError: true })
    expect(JSON.stringify(refused)).toContain('reeve skill trust release')
    await trust(reeve, path)
    const second = await start([use({ name: 'release' }), text('done')], { goal: 'go' })
    await reeve.waitAgent({ pid: second, turn: 1 })
    expect(await payloads(reeve, second, 'tool_answered')).toMatchObject([{ isError: false }])
  },
)

test('a skill with a link in it, or without a description, cannot be trusted', async () => {
  const { reeve, workspace } = await scriptedAgents()
  const linked = skillIn(workspace, { name: 'linked' })
  symlinkSync('/etc/hostname', join(linked, 'link'))
  const bare = join(workspace, '.reeve', 'skills', 'bare')
  mkdirSync(bare, { recursive: true })
  writeFileSync(join(bare, 'SKILL.md'), 'No front matter.')
  for (const path of [linked, bare]) {
    const { file } = await reeve.agentFile({ path })
    expect(file.state).toBe('invalid')
    await expect(reeve.trustFile({ path, hash: file.hash })).rejects.toMatchObject({ code: 'invalid_input' })
  }
})

test('allowed-tools of a skill grants nothing: what its user may not do is asked for when it is loaded', async () => {
  const { reeve, workspace, start } = await scriptedAgents()
  await trust(
    reeve,
    skillIn(workspace, { more: 'allowed-tools: deploy, Bash(git tag:*), mcp__notes__add\n' }),
  )
  await reeve.openSession({ session: 's' })
  const to = { type: 'session', session: 's' } as const
  await reeve.setPreset({ to, preset: null })
  for (const [resource, right] of [
    ['skill:**', 'read'],
    ['model:**', 'execute'],
    ['agent:**', 'execute'],
  ] as const)
    await reeve.addRule({ to, rule: { effect: 'allow', resource, rights: [right] } })
  const ownRules = async () =>
    (await reeve.policies({})).rules.filter(({ rule }) => rule.preset === undefined)
  const before = await ownRules()
  const pid = await start([use({ name: 'release' }), text('done')], { goal: 'go' })
  expect((await reeve.waitAgent({ pid, turn: 1 })).type).toBe('turn_ended')
  await reeve.as('session:s').spawn({
    kind: 'agent',
    cwd: workspace,
    spec: { agent: 'helper', model: 'scripted/script-1.json', goal: 'go' },
    owner: { session: 's' },
    name: 'bound',
  })
  const asked = await askedOnce(reeve)
  for (const effect of ['execute tool:deploy', 'execute tool:run_command', 'execute mcp:notes/add'])
    expect(JSON.stringify(asked.request)).toContain(effect)
  await reeve.as('human:ann').approve({ id: asked.id })
  await reeve.waitAgent({ pid: 'bound', turn: 1 })
  expect(await ownRules()).toEqual(before)
})

async function askedOnce(reeve: Embedded) {
  return expect
    .poll(async () => (await reeve.approvals({ state: 'pending' })).approvals.length)
    .toBe(1)
    .then(async () => {
      const [approval] = (await reeve.approvals({ state: 'pending' })).approvals
      if (approval === undefined) throw new Error('No approval')
      return approval
    })
}

test('a loaded skill is kept by a compaction, and an unloaded one is not', async () => {
  const { reeve, workspace, start } = await scriptedAgents()
  for (const name of ['kept', 'dropped']) await trust(reeve, skillIn(workspace, { name }))
  const unload = { parts: [{ tool: 'unload_skill', input: { name: 'dropped' } }] }
  // The script starts again for a summary, which is the text of its first answer.
  const script = [
    { parts: [{ text: 'I load a skill.' }, ...use({ name: 'kept' }).parts] },
    use({ name: 'dropped' }),
    unload,
    text('loaded'),
    text('a short summary'),
    text('another summary'),
  ]
  const pid = await start(script, { goal: 'go' })
  await reeve.waitAgent({ pid, turn: 1 })
  for (const turn of [2, 3]) {
    await reeve.compactAgent({ pid })
    await reeve.waitAgent({ pid, turn })
    const segment = JSON.stringify((await payloads(reeve, pid, 'segment_begun')).at(-1))
    expect(segment).toContain('The loaded skill kept:')
    expect(segment).not.toContain('The loaded skill dropped:')
  }
})
