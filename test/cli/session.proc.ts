import { expect, test } from 'vitest'
import { userName } from '../../src/os/user-name.ts'
import { CommandLine } from './command-line.ts'

test('sessions are listed as a tree, and end with the session above them', async () => {
  const reeve = new CommandLine()
  await reeve.run(['session', 'open', 'work'])
  await reeve.run(['session', 'open', 'review', '--parent', 'work'])
  await reeve.run(['session', 'open', 'tests', '--parent', 'review', '--label', 'runs tests'])
  await reeve.run(['session', 'open', 'build', '--parent', 'work'])
  await reeve.run(['session', 'open', 'alone'])
  const tree = ['alone', 'work', '├─ build', '└─ review', '   └─ tests']
  const listed = (await reeve.run(['sessions'])).stdout
  for (const line of tree) expect(listed).toContain(`\n${line} `)
  expect(listed.indexOf('└─ review')).toBeGreaterThan(listed.indexOf('├─ build'))
  expect(await reeve.json('session', 'list')).toMatchObject([
    { id: 'alone' },
    { id: 'build', sessionsAbove: ['work'] },
    { id: 'review', sessionsAbove: ['work'] },
    { id: 'tests', sessionsAbove: ['review', 'work'] },
    { id: 'work' },
  ])
  const refused = await reeve.run(['session', 'open', 'x', '--parent', 'missing'])
  expect(refused.stderr).toContain('There is no session missing.')
  await reeve.run(['session', 'end', 'work'])
  expect(await reeve.json('session', 'list')).toMatchObject([{ id: 'alone' }])
})

test('a session begins with a preset, and a wrong name is answered with the nearest one', async () => {
  const reeve = new CommandLine()
  await reeve.run(['session', 'open', 's1', '--preset', 'ask'])
  const rules = await reeve.json<{ subject: string; rule: { preset?: string } }[]>('policy', 'list')
  expect(new Set(rules.map(({ subject, rule }) => `${subject} ${rule.preset}`))).toEqual(
    new Set(['session:s1 ask']),
  )
  const [given] = await reeve.json<{ actor: string; action: string }[]>('audit')
  expect(given).toMatchObject({ actor: `human:${userName()}`, action: 'setPreset' })
  const refused = await reeve.run(['session', 'open', 's2', '--preset', 'obsrve'])
  expect(refused.code).not.toBe(0)
  expect(refused.stderr).toContain('There is no preset "obsrve".')
  expect(refused.stderr).toContain('observe')
  const wider = await reeve.run(['session', 'open', 's1', '--preset', 'observe'])
  expect(wider.stderr).toContain('reeve policy preset observe --session s1')
  expect(await reeve.json('session', 'list')).toMatchObject([{ id: 's1' }])
})

test('reeve mcp with an unknown preset ends at once', async () => {
  const refused = await new CommandLine().run(['mcp', '--preset', 'obsrve'])
  expect(refused.code).not.toBe(0)
  expect(refused.stderr).toContain('There is no preset "obsrve".')
})
