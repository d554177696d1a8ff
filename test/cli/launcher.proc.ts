import { execFile } from 'node:child_process'
import { resolve } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { CommandLine } from './command-line.ts'

const LAUNCHER = resolve('bin/reeve.mjs')
const run = promisify(execFile)

test('an --env-file of a command is for the command, not for the Node that runs reeve', async () => {
  const { env } = new CommandLine()
  const { stdout } = await run(LAUNCHER, ['run', 'echo', '--env-file=/no/such/file'], { env })
  expect(stdout).toBe('--env-file=/no/such/file\n')
  const refused = await run(LAUNCHER, ['ps', '--env-file', '/no/such/file'], { env }).catch(
    (error: unknown) => error,
  )
  expect(refused).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('There is no option --env-file.'),
  })
})
