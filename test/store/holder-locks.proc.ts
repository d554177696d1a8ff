import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { openSqlite } from 'reeve/sqlite'
import { expect, onTestFinished, test } from 'vitest'
import { tempFile } from '../temp-file.ts'

test('a kernel that nobody refers to keeps its lock through garbage collection, and loses it by kill -9', async () => {
  const file = tempFile()
  const program = spawn(
    process.execPath,
    ['--expose-gc', '--conditions=reeve-source', 'test/fixtures/forgetful-kernel.ts', file],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  )
  onTestFinished(() => void program.kill('SIGKILL'))
  const [line] = (await once(createInterface(program.stdout), 'line')) as [string]
  const { kernel, collected } = JSON.parse(line) as { kernel: string; collected: boolean }
  const store = await openSqlite(file)
  onTestFinished(() => store.close())

  expect(collected).toBe(true)
  expect(store.locks?.isHeld(kernel)).toBe(true)

  const gone = once(program, 'exit')
  program.kill('SIGKILL')
  await gone
  expect(store.locks?.isHeld(kernel)).toBe(false)
})
