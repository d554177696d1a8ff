import { expect, test } from 'vitest'
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
