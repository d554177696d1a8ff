import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { InputOf, Reeve } from 'reeve'
import { expect, test } from 'vitest'
import { payloads, scriptedAgents } from './scripted-agent.ts'

const text = (said: string) => ({ parts: [{ text: said }] })

/** A script in the workspace, as the id of a model. */
function script(workspace: string, answers: readonly unknown[]): string {
  writeFileSync(join(workspace, 'image-script.json'), JSON.stringify({ answers, atEnd: 'repeat' }))
  return 'scripted/image-script.json'
}

function imageFile(workspace: string, name: string, content: string): string {
  const path = join(workspace, name)
  mkdirSync(join(path, '..'), { recursive: true })
  writeFileSync(path, content)
  return path
}

test('an agent made from a registered image has its system prompt, tools and model, and inspect names the version', async () => {
  const { reeve, workspace } = await scriptedAgents()
  const model = script(workspace, [text('done')])
  const yaml = `description: Counts.\nsystem: You count files.\nmodels: [${model}]\ntools: [list_files]\n`
  const registered = await reeve.registerImage({ text: yaml, file: 'counter.yaml' })
  expect(registered).toMatchObject({ name: 'counter', version: 1 })
  const { record } = await reeve.spawn({
    kind: 'agent',
    cwd: workspace,
    spec: { agent: 'one', image: 'counter', goal: 'count' },
  })
  await reeve.waitAgent({ pid: record.pid, turn: 1 })
  const shown = await reeve.inspectAgent({ pid: record.pid })
  expect(shown.image).toEqual({ name: 'counter', hash: registered.hash })
  expect(shown.model).toBe(model)
  expect(shown.tools?.map(({ name }) => name)).toEqual(['list_files', 'read_result'])
  const [segment] = await payloads(reeve, record.pid, 'segment_begun')
  expect(JSON.stringify(segment)).toContain('You count files.')
})

test('what the request gives counts instead of what the image says', async () => {
  const { reeve, workspace } = await scriptedAgents()
  await reeve.registerImage({
    image: { name: 'plain', system: 'From the image.', models: ['nowhere/model'] },
  })
  const model = script(workspace, [text('done')])
  const { record } = await reeve.spawn({
    kind: 'agent',
    cwd: workspace,
    spec: { agent: 'one', image: 'plain', system: 'From the request.', model },
  })
  expect(record.spec).toMatchObject({ system: 'From the request.', model })
})

test('an agent and its children have the servers, hooks, budget and limits of its image', async () => {
  const { reeve, workspace } = await scriptedAgents()
  const model = script(workspace, [text('done')])
  const own: Pick<NonNullable<InputOf<'registerImage'>['image']>, 'mcpServers' | 'hooks' | 'softLimits'> = {
    mcpServers: { notes: { type: 'command', argv: ['notes-server'] } },
    hooks: [{ event: 'before_tool', tools: ['write_file'], run: './check-write' }],
    softLimits: { cost: 1 },
  }
  const budget = { tokensOut: 5_000 }
  await reeve.registerImage({ image: { name: 'whole', models: [model], budget, ...own } })
  const { record } = await reeve.spawn({
    kind: 'agent',
    cwd: workspace,
    spec: { agent: 'one', image: 'whole' },
  })
  expect(record.spec).toMatchObject(own)
  expect(record.limits.allowance).toMatchObject(budget)
  const child = await reeve.spawnAgent({ parent: record.pid, goal: 'a part' })
  expect(child.record.spec['hooks']).toEqual(own.hooks)
})

test('a child has what its image says, and the rest of its parent', async () => {
  const { reeve, workspace } = await scriptedAgents()
  const model = script(workspace, [text('done')])
  await reeve.registerImage({
    image: { name: 'critic', system: 'You criticise.', tools: ['read_file'], budget: { tokensOut: 3_000 } },
  })
  await reeve.registerImage({
    image: { name: 'other', models: ['scripted/demo', model], effort: 'high' },
  })
  const { record: parent } = await reeve.spawn({
    kind: 'agent',
    cwd: workspace,
    spec: { agent: 'lead', model, fallbacks: ['scripted/demo'], system: 'You lead.', effort: 'low' },
  })
  const child = async (more: Partial<InputOf<'spawnAgent'>>) =>
    (await reeve.spawnAgent({ parent: parent.pid, goal: 'a part', ...more })).record
  const critic = await child({ image: 'critic' })
  expect(critic.spec).toMatchObject({
    agent: 'critic',
    system: 'You criticise.',
    tools: ['read_file'],
    image: expect.stringMatching(/^critic@[0-9a-f]{64}$/),
    ...{ model, fallbacks: ['scripted/demo'], effort: 'low' },
  })
  expect(critic.limits.allowance).toMatchObject({ tokensOut: 3_000 })
  expect((await child({ image: 'other' })).spec).toMatchObject({
    ...{ model: 'scripted/demo', fallbacks: [model], effort: 'high', system: 'You lead.' },
  })
  expect((await child({ image: 'critic', system: 'Mine.', role: 'judge' })).spec).toMatchObject({
    ...{ agent: 'judge', system: 'Mine.', tools: ['read_file'] },
  })
  expect(await reeve.waitAgent({ pid: critic.pid, turn: 1 })).toMatchObject({ turn: { result: 'done' } })
})

test('an image gives a child no tool that its parent lacks, and an unknown or untrusted one registers nothing', async () => {
  const { reeve, workspace } = await scriptedAgents()
  const model = script(workspace, [text('done')])
  imageFile(workspace, '.reeve/agents/helper.yaml', 'system: Help.\n')
  const { record: parent } = await reeve.spawn({
    kind: 'agent',
    cwd: workspace,
    spec: { agent: 'lead', model, tools: ['read_file', 'agent_spawn'] },
  })
  for (const [image, code] of [
    ['reviewer', 'denied'],
    ['helper', 'untrusted'],
    ['nothing', 'not_found'],
  ] as const)
    await expect(reeve.spawnAgent({ parent: parent.pid, goal: 'a part', image })).rejects.toMatchObject({
      code,
    })
  expect((await reeve.agents({ parent: parent.pid, ended: true })).agents).toEqual([])
})

test('an agent starts a child from an image with its tool', async () => {
  const { reeve, workspace, start } = await scriptedAgents()
  const model = script(workspace, [text('done')])
  await reeve.registerImage({ image: { name: 'caller', models: [model] } })
  const spawning = { tool: 'agent_spawn', input: { goal: 'call', image: 'caller' } }
  const parent = await start([{ parts: [spawning] }, text('I wait.')], { goal: 'go' })
  await reeve.waitAgent({ pid: parent, turn: 1 })
  const { agents } = await reeve.agents({ parent })
  expect(agents).toMatchObject([{ model }])
  const child = await reeve.show({ pid: agents[0]?.pid ?? '' })
  expect(child.spec).toMatchObject({ agent: 'caller' })
})

test('what the image of a child needs beyond the rules of its parent is asked for', async () => {
  const { reeve, workspace } = await scriptedAgents()
  const model = script(workspace, [text('done')])
  await reeve.registerImage({ image: { name: 'greedy', models: [model], needs: ['net:example.com'] } })
  await reeve.openSession({ session: 's' })
  const to = { type: 'session', session: 's' } as const
  await reeve.setPreset({ to, preset: null })
  for (const resource of ['agent:**', 'image:**', 'model:**'])
    await reeve.addRule({ to, rule: { effect: 'allow', resource } })
  const { record: parent } = await reeve
    .as('session:s')
    .spawn({ kind: 'agent', cwd: workspace, spec: { agent: 'lead', model } })
  const asked = await reeve
    .as(`process:${parent.pid}`)
    .spawnAgent({ parent: parent.pid, goal: 'call', image: 'greedy' })
  expect(asked).toMatchObject({ type: 'asked', record: { status: 'waiting' } })
  const { approvals } = await reeve.approvals({})
  expect(approvals).toMatchObject([{ pid: asked.record.pid }])
  expect(JSON.stringify(approvals)).toContain('read net:example.com')
})

test('an image with a hook of an unknown event is refused', async () => {
  const { reeve } = await scriptedAgents()
  const hooked = reeve.registerImage({ text: 'hooks: [{ event: at_noon, run: ls }]', file: 'hooked.yaml' })
  await expect(hooked).rejects.toMatchObject({ code: 'invalid_input' })
})

test('an image keeps its versions by hash, and the same content is the same version', async () => {
  const { reeve } = await scriptedAgents()
  const first = await reeve.registerImage({ image: { name: 'kept', system: 'one' } })
  const second = await reeve.registerImage({ image: { name: 'kept', system: 'two' } })
  const again = await reeve.registerImage({ text: '{"system":"two"}', file: 'kept.json' })
  expect([first.version, second.version, again.version]).toEqual([1, 2, 2])
  expect(again.hash).toBe(second.hash)
  expect((await reeve.image({ name: 'kept' })).image.system).toBe('two')
  expect((await reeve.image({ name: `kept@${first.hash.slice(0, 12)}` })).image.system).toBe('one')
  expect(await reeve.removeImage({ name: 'kept' })).toEqual({ name: 'kept', versions: 2 })
  await expect(reeve.image({ name: 'kept' })).rejects.toMatchObject({ code: 'not_found' })
})

test('a repeated request is the same agent, also after the image has got another version', async () => {
  const { reeve, workspace } = await scriptedAgents()
  const models = [script(workspace, [text('done')])]
  await reeve.registerImage({ image: { name: 'moving', system: 'one', models } })
  const request = {
    kind: 'agent',
    idempotencyKey: 'k',
    cwd: workspace,
    spec: { agent: 'one', image: 'moving' },
  } as const
  const first = await reeve.spawn(request)
  await reeve.registerImage({ image: { name: 'moving', system: 'two', models } })
  const second = await reeve.spawn(request)
  expect([second.type, second.record.pid]).toEqual(['existing', first.record.pid])
  expect(second.record.spec).toMatchObject({ system: 'one' })
})

test('an image with an unknown field, of an unknown name or without a model is refused', async () => {
  const { reeve, workspace } = await scriptedAgents()
  await expect(reeve.registerImage({ text: 'sistem: x', file: 'wrong.yaml' })).rejects.toMatchObject({
    code: 'invalid_input',
    message: expect.stringContaining('sistem'),
  })
  await expect(reeve.registerImage({ text: 'models: a/b', file: 'wrong.yaml' })).rejects.toMatchObject({
    message: 'The image cannot be read: models: Invalid input: expected array, received string',
  })
  const spawned = (image: string) =>
    reeve.spawn({ kind: 'agent', cwd: workspace, spec: { agent: 'one', image } })
  await expect(spawned('absent')).rejects.toMatchObject({ code: 'not_found' })
  await expect(spawned('coder')).rejects.toMatchObject({
    code: 'invalid_input',
    details: { field: 'spec.model' },
  })
})

test.each([
  ['.reeve/agents/local.yaml', 'system: From a file.\n'],
  ['.reeve/agents/local.json', '{ "system": "From a file." }'],
  ['.reeve/agents/local.md', '---\ndescription: local\n---\nFrom a file.\n'],
  [
    '.claude/agents/local.md',
    '---\nname: local\ndescription: Use it: always\ntools: Read, Bash(git log:*)\nmodel: inherit\n---\nFrom a file.\n',
  ],
])('the image %s is inert until a person trusts it, and again after a change', async (name, content) => {
  const { reeve, workspace } = await scriptedAgents()
  const path = imageFile(workspace, name, content)
  const model = script(workspace, [text('done')])
  const spawned = () =>
    reeve.spawn({ kind: 'agent', cwd: workspace, spec: { agent: 'one', image: 'local', model } })
  await expect(spawned()).rejects.toMatchObject({ code: 'untrusted', details: { path } })
  const [file] = (await reeve.agentFiles({ folder: workspace })).files
  expect(file).toMatchObject({ kind: 'image', name: 'local', state: 'untrusted', path })
  const hash = file?.hash ?? ''
  await expect(reeve.trustFile({ path, hash: 'f'.repeat(64) })).rejects.toMatchObject({ code: 'conflict' })
  expect(await reeve.trustFile({ path, hash })).toMatchObject({ state: 'trusted' })
  expect((await spawned()).record.spec).toMatchObject({ system: 'From a file.' })
  writeFileSync(path, content.replace('From a file', 'Changed'))
  await expect(spawned()).rejects.toMatchObject({ code: 'untrusted' })
  writeFileSync(path, content)
  expect((await spawned()).type).toBe('registered')
  await reeve.trustFile({ path, hash: null })
  await expect(spawned()).rejects.toMatchObject({ code: 'untrusted' })
})

test.each([
  [
    'name: theirs\ntools: Read, Grep, mcp__docs__find\nmodel: sonnet\ncolor: blue\npermissionMode: acceptEdits',
    {
      tools: ['read_file', 'search_files', 'mcp__docs__find'],
      models: ['anthropic/claude-sonnet-5-5'],
    },
  ],
  [
    'name: The Reviewer of Theirs\ntools: [Read, "Bash(git diff:*)"]\ndisallowedTools: Bash',
    { tools: ['read_file'] },
  ],
  // No YAML: a star names an anchor, and the second colon begins another member.
  ['name: theirs\ndescription: Use it: always\ntools: *\nmodel: inherit', { description: 'Use it: always' }],
])('what the front matter of an agent of Claude Code says, the image says: %j', async (matter, image) => {
  const { reeve, workspace } = await scriptedAgents()
  const path = imageFile(workspace, '.claude/agents/theirs.md', `---\n${matter}\n---\nRead.\n`)
  const [file] = (await reeve.agentFiles({ folder: workspace, kind: 'image' })).files
  await reeve.trustFile({ path, hash: file?.hash ?? '' })
  const found = await reeve.image({ name: 'theirs', folder: workspace })
  expect(found.image).toEqual({ name: 'theirs', system: 'Read.', ...image })
})

test('an agent of Claude Code is registered from the path of its file, and what is not registered is not removed', async () => {
  const { reeve } = await scriptedAgents()
  const matter = 'name: theirs\ntools: Read\nmodel: sonnet'
  const file = '.claude/agents/theirs.md'
  await reeve.registerImage({ text: `---\n${matter}\n---\nRead.\n`, file })
  expect((await reeve.image({ name: 'theirs' })).image).toMatchObject({ tools: ['read_file'] })
  await expect(reeve.removeImage({ name: 'coder' })).rejects.toMatchObject({
    message: 'No image coder is registered.',
  })
})

test('an agent of Claude Code that may use all tools but some may use those that are known here, without them', async () => {
  const { reeve, workspace } = await scriptedAgents()
  const content = '---\nname: theirs\ndisallowedTools: Write, Edit, Bash\n---\nRead.\n'
  const path = imageFile(workspace, '.claude/agents/theirs.md', content)
  const { file } = await reeve.agentFile({ path })
  await reeve.trustFile({ path, hash: file.hash })
  const { tools } = (await reeve.image({ name: 'theirs', folder: workspace })).image
  expect(tools).toEqual(expect.arrayContaining(['read_file', 'search_files', 'plan', 'use_skill']))
  for (const denied of ['write_file', 'edit_file', 'run_command', 'command_input'])
    expect(tools).not.toContain(denied)
})

/** The rules that people and agents have made: sessions of agents may have those of a preset besides. */
async function ownRules(reeve: Reeve): Promise<object[]> {
  return (await reeve.policies({})).rules.filter(({ rule }) => rule.preset === undefined)
}

test('what an image needs beyond the rules of its asker is asked for, and a yes gives no right', async () => {
  const { reeve, workspace } = await scriptedAgents()
  const models = [script(workspace, [text('done')])]
  await reeve.registerImage({
    image: { name: 'greedy', models, needs: ['net:example.com', 'shell:git push'] },
  })
  await reeve.openSession({ session: 's' })
  const to = { type: 'session', session: 's' } as const
  await reeve.setPreset({ to, preset: null })
  for (const resource of ['agent:**', 'image:**', 'model:**'])
    await reeve.addRule({ to, rule: { effect: 'allow', resource } })
  const asked = reeve.as('session:s')
  const { record } = await asked.spawn({
    kind: 'agent',
    cwd: workspace,
    spec: { agent: 'one', image: 'greedy', goal: 'go' },
  })
  expect(record.status).toBe('waiting')
  const [approval] = (await reeve.approvals({})).approvals
  expect(approval).toMatchObject({ pid: record.pid, request: { grants: ['once'] } })
  expect(JSON.stringify(approval?.request)).toContain('read net:example.com')
  expect(JSON.stringify(approval?.request)).toContain('execute shell:git push')
  const before = await ownRules(reeve)
  await reeve.as('human:ann').approve({ id: approval?.id ?? '' })
  await reeve.waitAgent({ pid: record.pid, turn: 1 })
  expect(await ownRules(reeve)).toEqual(before)
  const subject = { type: 'process', pid: record.pid } as const
  const what = { type: 'resource', resource: 'net:example.com' } as const
  const explained = await reeve.explainRules({ subject, what })
  expect(explained.ruling.type).toBe('deny')
})

test('a rule that denies what an image needs denies the agent, and nothing is asked', async () => {
  const { reeve, workspace } = await scriptedAgents()
  const models = [script(workspace, [text('done')])]
  await reeve.registerImage({ image: { name: 'greedy', models, needs: ['net:example.com'] } })
  await reeve.openSession({ session: 's' })
  const to = { type: 'session', session: 's' } as const
  await reeve.addRule({ to, rule: { effect: 'deny', resource: 'net:example.com', rights: ['read'] } })
  const spec = { agent: 'one', image: 'greedy' }
  await expect(reeve.as('session:s').spawn({ kind: 'agent', cwd: workspace, spec })).rejects.toMatchObject({
    code: 'denied',
  })
  expect((await reeve.approvals({})).approvals).toEqual([])
  expect((await reeve.list({})).processes).toEqual([])
})

test('a session registers an image only if a rule allows it', async () => {
  const { reeve } = await scriptedAgents()
  await reeve.openSession({ session: 's' })
  const to = { type: 'session', session: 's' } as const
  await reeve.setPreset({ to, preset: null })
  const register = () => reeve.as('session:s').registerImage({ image: { name: 'mine' } })
  await expect(register()).rejects.toMatchObject({ code: 'denied' })
  expect((await reeve.images({})).images.map(({ name }) => name)).not.toContain('mine')
  await reeve.addRule({ to, rule: { effect: 'allow', resource: 'image:mine', rights: ['write'] } })
  expect(await register()).toMatchObject({ name: 'mine', version: 1 })
})

test('the preset of an image binds the agent, also one that a person starts', async () => {
  const { reeve, workspace } = await scriptedAgents()
  writeFileSync(join(workspace, 'a.txt'), 'old')
  const write = { tool: 'write_file', input: { path: 'b.txt', content: 'new' } }
  const models = [script(workspace, [{ parts: [write] }, text('done')])]
  await reeve.registerImage({ image: { name: 'watcher', models, preset: 'observe' } })
  const { record } = await reeve.spawn({
    kind: 'agent',
    cwd: workspace,
    spec: { agent: 'one', image: 'watcher', goal: 'write' },
  })
  await reeve.waitAgent({ pid: record.pid, turn: 1 })
  const [answered] = await payloads(reeve, record.pid, 'tool_answered')
  expect(answered).toMatchObject({ isError: true })
  expect(JSON.stringify(answered)).toContain('may not do this')
})

test('the result of the goal of an agent fits the schema of its image', async () => {
  const { reeve, workspace } = await scriptedAgents()
  const models = [script(workspace, [text('not JSON'), text('{"files": 3}')])]
  const output = { type: 'object', properties: { files: { type: 'integer' } }, required: ['files'] }
  await reeve.registerImage({ image: { name: 'shaped', models, output } })
  const { record } = await reeve.spawn({
    kind: 'agent',
    cwd: workspace,
    spec: { agent: 'one', image: 'shaped', goal: 'count', once: true },
  })
  const ended = await reeve.waitAgent({ pid: record.pid, turn: 1 })
  expect(ended).toMatchObject({ turn: { reason: 'finished', result: { files: 3 } } })
})

test('agents without a parent get the image, goal and budget of the configuration where they name none', async () => {
  const { reeve, workspace } = await scriptedAgents({
    agents: { image: 'coder', goal: 'look around', budget: { tokensOut: 5_000 } },
  })
  const model = script(workspace, [text('looked')])
  const { record } = await reeve.spawn({ kind: 'agent', cwd: workspace, spec: { agent: 'one', model } })
  expect(record.spec).toMatchObject({ goal: 'look around' })
  expect(record.limits.allowance).toMatchObject({ tokensOut: 5_000 })
  expect((await reeve.inspectAgent({ pid: record.pid })).image.name).toBe('coder')
  const outside = await reeve.spawn({ kind: 'agent', spec: { agent: 'theirs' } })
  expect(outside.record.spec).toEqual({ agent: 'theirs' })
})
