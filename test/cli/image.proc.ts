import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { tempFolder } from '../temp-folder.ts'
import { CommandLine } from './command-line.ts'

test('inside of a process of Reeve an image is registered for a session that a rule allows, and otherwise by people alone', async () => {
  const line = new CommandLine()
  const cwd = tempFolder()
  writeFileSync(join(cwd, 'coder.yaml'), 'system: You are another coder.\n')
  await line.run(['session', 'open', 's1'])
  const register = ['image', 'register', 'coder.yaml']
  const inside = { cwd, env: { REEVE_PROCESS: 'p_azzzzzzzzzzz@home' } }
  const refused = await line.run(register, inside)
  expect(refused.stderr).toContain('registerImage is for people')
  expect(refused.code).not.toBe(0)
  const asSession = [...register, '--as', 'session:s1']
  expect((await line.run(asSession, inside)).stderr).toContain('session:s1 may not register the image coder')
  await line.run(['policy', 'add', 'allow', 'image:coder', '--rights', 'write', '--session', 's1'])
  expect((await line.run(asSession, inside)).stdout).toContain('Registered coder@')
  expect((await line.run(register, { cwd })).stdout).toContain('version 1')
})
