import { execFileSync } from 'node:child_process'
import { mkdirSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readInstructions } from '../../src/agent/prompt/instructions.ts'
import { tempFolder } from '../temp-folder.ts'
import { HeldModel } from './held-model.ts'
import { payloads, scriptedAgents } from './scripted-agent.ts'

/** An agent in a workspace with these files. Its model reads a file of `src/deep` when it is told to. */
async function agentIn(files: Readonly<Record<string, string>>, prepare = (_workspace: string) => {}) {
  const model = new HeldModel()
  const { reeve, workspace } = await scriptedAgents({ models: { 'my/model': model } })
  const write = (name: string, text: string) => writeFileSync(join(workspace, name), text)
  mkdirSync(join(workspace, 'src/deep'), { recursive: true })
  for (const [name, text] of Object.entries({ ...files, 'src/deep/a.txt': 'a' })) write(name, text)
  prepare(workspace)
  const spec = { agent: 'helper', model: 'my/model', goal: 'go' }
  const { record } = await reeve.spawn({ kind: 'agent', cwd: workspace, spec })
  const { pid } = record
  const end = async (call: Awaited<ReturnType<HeldModel['next']>>) => {
    call.answer('done')
    await reeve.waitAgent({ pid, turn: 1 })
  }
  return { reeve, pid, model, workspace, write, end }
}

const systemTexts = (prompt: string): readonly string[] =>
  (JSON.parse(prompt) as { role: string; content: unknown }[])
    .filter(({ content }) => JSON.stringify(content).includes('nstructions'))
    .map(({ content }) => JSON.stringify(content))

test('instructions from the workspace down to a touched folder are told, and each change once, after the same prompt', async () => {
  const { reeve, pid, model, workspace, write, end } = await agentIn({
    'AGENTS.md': 'ROOT RULES',
    'CLAUDE.md': 'NOT READ BESIDE AGENTS.md',
    'src/CLAUDE.md': 'RULES OF SRC',
    'src/deep/AGENTS.md': 'RULES OF DEEP',
  })
  const first = await model.next()
  expect(first.prompt).toContain(`Instructions from ${join(workspace, 'AGENTS.md')}:\\n\\nROOT RULES`)
  expect(first.prompt).not.toMatch(/RULES OF|NOT READ/)

  first.call('read_file', { path: 'src/deep/a.txt' })
  const second = await model.next()
  expect(second.prompt.startsWith(first.prompt.slice(0, -1))).toBe(true)
  expect(second.prompt).toMatch(/RULES OF SRC.*RULES OF DEEP/)
  expect(second.prompt).not.toContain('NOT READ')

  write('AGENTS.md', 'NEW ROOT RULES')
  second.call('list_files', {})
  const third = await model.next()
  expect(third.prompt.startsWith(second.prompt.slice(0, -1))).toBe(true)
  expect(third.prompt.slice(second.prompt.length)).toContain('NEW ROOT RULES')
  expect(third.prompt.slice(second.prompt.length)).not.toContain('RULES OF SRC')

  rmSync(join(workspace, 'src/CLAUDE.md'))
  third.call('list_files', {})
  const fourth = await model.next()
  expect(fourth.prompt.startsWith(third.prompt.slice(0, -1))).toBe(true)
  expect(fourth.prompt.slice(third.prompt.length)).toContain(
    `${join(workspace, 'src/CLAUDE.md')} is gone: its instructions do not hold any more.`,
  )

  fourth.call('list_files', {})
  const fifth = await model.next()
  expect(systemTexts(fifth.prompt)).toEqual(systemTexts(fourth.prompt))
  await end(fifth)
  expect(await payloads(reeve, pid, 'system_item')).toHaveLength(3)
})

test('instructions that a link leads out of the workspace to, a pipe and a file without an end are not read', async () => {
  const outside = tempFolder()
  writeFileSync(join(outside, 'private.txt'), 'PRIVATE')
  writeFileSync(join(outside, 'AGENTS.md'), 'RULES FROM OUTSIDE')
  const { model, end } = await agentIn(
    { 'src/RULES.md': `SHARED RULES ${'x'.repeat(200_000)}` },
    (workspace) => {
      symlinkSync(join(outside, 'private.txt'), join(workspace, 'AGENTS.md'))
      execFileSync('mkfifo', [join(workspace, 'src/AGENTS.md')])
      symlinkSync('RULES.md', join(workspace, 'src/CLAUDE.md'))
      symlinkSync(outside, join(workspace, 'linked'))
      writeFileSync(join(workspace, 'src/deep/AGENTS.md'), 'ENDLESS RULES')
      truncateSync(join(workspace, 'src/deep/AGENTS.md'), 8 * 1024 ** 3)
    },
  )
  const first = await model.next()
  expect(first.prompt).not.toContain('PRIVATE')
  first.call('read_file', { path: 'linked/private.txt' })
  const second = await model.next()
  expect(second.prompt).not.toContain('RULES FROM OUTSIDE')
  second.call('read_file', { path: 'src/deep/a.txt' })
  const third = await model.next()
  // A link within the workspace is followed, and of a long file the beginning is told.
  expect(third.prompt).toContain('SHARED RULES')
  expect(third.prompt).not.toContain('ENDLESS RULES')
  expect(third.prompt).toContain('(The rest is left out.)')
  expect(third.prompt.length).toBeLessThan(100_000)
  await end(third)
})

test('a workspace inside of a git repository gets the instructions of the repository, down to itself; links out of it are not read', async () => {
  const outside = tempFolder()
  const repository = tempFolder()
  const workspace = join(repository, 'packages/app')
  mkdirSync(join(workspace), { recursive: true })
  mkdirSync(join(repository, '.git'))
  writeFileSync(join(outside, 'private.txt'), 'PRIVATE')
  writeFileSync(join(repository, 'AGENTS.md'), 'RULES OF THE REPOSITORY')
  symlinkSync(join(outside, 'private.txt'), join(repository, 'packages/AGENTS.md'))
  writeFileSync(join(workspace, 'AGENTS.md'), 'RULES OF THE APP')
  const paths = async () => (await readInstructions(workspace, { touched: [] })).map(({ text }) => text)
  expect(await paths()).toEqual(['RULES OF THE REPOSITORY', 'RULES OF THE APP'])
  mkdirSync(join(workspace, '.git'))
  expect(await paths()).toEqual(['RULES OF THE APP'])
})

test('without a repository nothing above the workspace is read', async () => {
  const folder = tempFolder()
  const workspace = join(folder, 'app')
  mkdirSync(workspace)
  writeFileSync(join(folder, 'AGENTS.md'), 'NOT OF THIS WORKSPACE')
  expect(await readInstructions(workspace, { touched: [] })).toEqual([])
})
