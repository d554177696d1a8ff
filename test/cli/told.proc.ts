import { expect, test } from 'vitest'
import { CommandLine } from './command-line.ts'

test('a name means the process that runs, not one that came later and has ended', async () => {
  const reeve = new CommandLine()
  const server = (await reeve.run(['run', '-d', '--name', 'srv', '--', 'sleep', '60'])).stdout.trim()
  const second = await reeve.run(['run', '-d', '--name', 'srv', '--', 'true'])
  const pid = second.stdout.trim()
  expect(second.stderr).toBe(
    `reeve: ${server} has the name srv, too, and goes on: while ${pid} lives, srv means ${pid}.\n`,
  )
  await reeve.run(['wait', pid])
  expect((await reeve.run(['kill', 'srv'])).stdout).toBe('srv  cancelled SIGTERM\n')
  expect((await reeve.run(['ps', '-q'])).stdout).toBe('')
})
