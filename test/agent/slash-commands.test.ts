import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { expandCommand } from '../../src/core/agent/slash-command.ts'
import type { Embedded } from '../../src/embed/embed.ts'
import { payloads, scriptedAgents } from './scripted-agent.ts'

const said = (text: string) => ({ parts: [{ text }] })
const BODY = '---\ndescription: Fix an issue\nargument-hint: [number]\n---\nFix issue $1, then $ARGUMENTS.\n'

function write(path: string, text: string): string {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
  return path
}

async function trust(reeve: Embedded, path: string): Promise<void> {
  const { file } = await reeve.agentFile({ path })
  await reeve.trustFile({ path, hash: file.hash })
}

async function textsOf(reeve: Embedded, pid: string): Promise<string> {
  return JSON.stringify((await payloads(reeve, pid, 'input_admitted')).at(-1))
}

test.each(['.claude', '.reeve'])(
  'a trusted file of %s/commands is a slash command with arguments',
  async (root) => {
    const { reeve, workspace, start } = await scriptedAgents()
    await trust(reeve, write(join(workspace, root, 'commands', 'fix.md'), BODY))
    const pid = await start([said('fixed')])
    await reeve.runAgent({ pid, parts: [{ type: 'command', name: 'fix', arguments: '7 "and more"' }] })
    await reeve.waitAgent({ pid, turn: 1 })
    expect(await textsOf(reeve, pid)).toContain('Fix issue 7, then 7 \\"and more\\".')
  },
)

test('a file in a folder of commands is named with the folder, and one without text is invalid', async () => {
  const { reeve, workspace } = await scriptedAgents()
  const folder = join(workspace, '.reeve', 'commands')
  write(join(folder, 'front', 'build.md'), 'Build it.')
  write(join(folder, 'empty.md'), '---\ndescription: Nothing\n---\n')
  write(join(folder, 'two words.md'), 'Text.')
  const { files } = await reeve.agentFiles({ folder: workspace, kind: 'command' })
  expect(files.map(({ name, state }) => [name, state])).toEqual([
    ['empty', 'invalid'],
    ['two words', 'invalid'],
    ['front:build', 'untrusted'],
  ])
})

test('a command that no person trusts, or that has changed since, is refused, and nothing is admitted', async () => {
  const { reeve, workspace, start } = await scriptedAgents()
  const path = write(join(workspace, '.claude', 'commands', 'fix.md'), BODY)
  const pid = await start([said('fixed')])
  const run = () => reeve.runAgent({ pid, parts: [{ type: 'command', name: 'fix' }] })
  const refused = { code: 'invalid_request', details: { problem: 'untrusted_command', path } }
  await expect(run()).rejects.toMatchObject(refused)
  expect((await reeve.completeInput({ pid, text: '/f' })).completions).toEqual([])
  await trust(reeve, path)
  expect((await reeve.completeInput({ pid, text: '/f' })).completions).toEqual([
    { type: 'command', text: '/fix', source: 'workspace', about: '[number] Fix an issue' },
  ])
  write(path, 'Delete everything.')
  await expect(run()).rejects.toMatchObject(refused)
  expect(await payloads(reeve, pid, 'input_admitted')).toEqual([])
  await trust(reeve, path)
  await run()
  await reeve.waitAgent({ pid, turn: 1 })
  expect(await textsOf(reeve, pid)).toContain('Delete everything.')
})

test('the same request again has the text that was admitted, also if the file has changed since', async () => {
  const { reeve, workspace, start } = await scriptedAgents()
  const path = write(join(workspace, '.reeve', 'commands', 'fix.md'), 'First text.')
  await trust(reeve, path)
  const pid = await start([said('fixed')])
  const request = { pid, id: 'once', parts: [{ type: 'command', name: 'fix' }] } as const
  const first = await reeve.runAgent({ ...request, parts: [...request.parts] })
  write(path, 'Second text.')
  expect(await reeve.runAgent({ ...request, parts: [...request.parts] })).toEqual(first)
})

test('a farther command that is trusted counts before a nearer one that is not', async () => {
  const { reeve, workspace } = await scriptedAgents()
  const inner = join(workspace, 'inner')
  await trust(reeve, write(join(workspace, '.reeve', 'commands', 'fix.md'), 'The outer text.'))
  write(join(inner, '.reeve', 'commands', 'fix.md'), 'The inner text.')
  writeFileSync(join(inner, 'script.json'), JSON.stringify({ answers: [said('fixed')] }))
  const spec = { agent: 'helper', model: 'scripted/script.json' }
  const { pid } = (await reeve.spawn({ kind: 'agent', cwd: inner, spec })).record
  await reeve.runAgent({ pid, parts: [{ type: 'command', name: 'fix' }] })
  await reeve.waitAgent({ pid, turn: 1 })
  expect(await textsOf(reeve, pid)).toContain('The outer text.')
})

test('a trusted skill is a slash command that tells the agent to load it', async () => {
  const { reeve, workspace, start } = await scriptedAgents()
  const path = join(workspace, '.reeve', 'skills', 'release')
  write(join(path, 'SKILL.md'), '---\nname: release\ndescription: How to release\n---\nTag it.\n')
  const pid = await start([said('released')])
  expect((await reeve.completeInput({ pid, text: '/rel' })).completions).toEqual([])
  await trust(reeve, path)
  expect((await reeve.completeInput({ pid, text: '/rel' })).completions).toEqual([
    { type: 'command', text: '/release', source: 'skill', about: 'How to release' },
  ])
  await reeve.runAgent({ pid, parts: [{ type: 'command', name: 'release', arguments: '1.2' }] })
  await reeve.waitAgent({ pid, turn: 1 })
  expect(await textsOf(reeve, pid)).toMatch(/call use_skill with its name.*Arguments: 1\.2/)
})

test('arguments of a command are neither read as references nor lost', () => {
  expect(expandCommand('Fix $1 and $2.', '"a b" $1')).toBe('Fix a b and $1.')
  expect(expandCommand('Fix it.', 'soon')).toBe('Fix it.\n\nArguments: soon')
  expect(expandCommand('Costs $10 or $1.', 'x')).toBe('Costs $10 or x.')
  expect(expandCommand('Fix $ARGUMENTS$3.', '')).toBe('Fix .')
})
