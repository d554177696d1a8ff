import { expect, test } from 'vitest'
import { CommandLine } from './command-line.ts'

test('objects are put, listed, compared, handed on and taken back', async () => {
  const line = new CommandLine()
  const pid = (await line.run(['run', '-d', '--name', 'web', 'sleep', '300'])).stdout.trim()
  const plan = ['object', 'put', '--type', 'plan', '--mutable', 'web', 'plan', 'look']
  expect(await line.run(plan)).toMatchObject({ code: 0, stdout: `Put ${pid}/plan, version 1\n` })
  expect((await line.run(plan)).stdout).toBe(`Unchanged: ${pid}/plan, version 1\n`)
  const stale = await line.run(['object', 'put', 'web', 'plan', 'fix'])
  expect(stale).toMatchObject({ code: 5, stderr: expect.stringContaining('has version 1') })
  expect((await line.run(['object', 'put', '--expect', '1', 'web', 'plan', 'fix', 'it'])).stdout).toContain(
    'version 2',
  )
  const list = await line.run(['object', 'list', 'web'])
  expect(list.stdout).toMatch(/^NAME +TYPE +VERSION +BYTES +WRITTEN BY +RIGHTS\nplan +plan +2 +6 +p_/)
  expect((await line.run(['object', 'show', 'web', 'plan'])).stdout).toMatch(/^plan .*\nfix it\n$/)
  expect((await line.run(['object', 'show', '--at', '1', 'web', 'plan'])).stdout).toMatch(/\nlook\n$/)
  expect((await line.run(['object', 'history', 'web', 'plan'])).stdout.split('\n')).toHaveLength(4)
  expect((await line.run(['object', 'diff', 'web', 'plan'])).stdout).toMatch(
    /1 → 2\n@@.*\n-look\n.*\n\+fix it/,
  )
  const child = [
    'call',
    'spawn',
    JSON.stringify({ kind: 'external', spec: { description: 'x' }, parent: pid, name: 'kid' }),
  ]
  expect(await line.run(child)).toMatchObject({ code: 0 })
  const linked = await line.run(['object', 'link', '--rights', 'read', 'web', 'plan', 'kid'])
  expect(linked).toMatchObject({ code: 0, stdout: expect.stringMatching(/^h_\w+_\d+\n$/) })
  expect((await line.run(['object', 'show', 'kid', 'plan'])).code).toBe(0)
  expect((await line.run(['object', 'revoke', linked.stdout.trim()])).stdout).toMatch(/^Revoked h_/)
  expect((await line.run(['object', 'show', 'kid', 'plan'])).stderr).toContain('was revoked')
  expect((await line.run(['object', 'release', 'web', 'plan'])).stdout).toBe('Released plan\n')
  expect((await line.run(['object', 'list', '--json', 'web'])).stdout).toBe('[]\n')
})

test('object says what is missing', async () => {
  const line = new CommandLine()
  for (const args of [
    ['object'],
    ['object', 'lst'],
    ['object', 'show', 'web'],
    ['object', 'put', 'web', 'plan'],
  ])
    expect(await line.run(args), args.join(' ')).toMatchObject({ code: 2 })
})
