import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { createInterface } from 'node:readline'
import { openSqlite } from 'reeve/sqlite'
import { expect, onTestFinished, test } from 'vitest'
import { builtFixture } from '../../built-file.ts'
import { tempStore } from '../../temp-folder.ts'

test('a kernel without references keeps its lock through garbage collection, and loses it by kill -9', async () => {
  const file = tempStore()
  const program = spawn(process.execPath, ['--expose-gc', builtFixture('forgetful-kernel'), file], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(() => void program.kill('SIGKILL'))
  const [line] = (await once(createInterface(program.stdout), 'line')) as [string]
  const { kernel, collected } = JSON.parse(line) as { kernel: string; collected: boolean }
  const store = await openSqlite(file)
  onTestFinished(() => store.close())

  expect(collected).toBe(true)
  expect(store.locks?.prove(kernel)).toBe('alive')

  const gone = once(program, 'exit')
  program.kill('SIGKILL')
  await gone
  expect(store.locks?.prove(kernel)).toBe('dead')
})

test('a kernel stays provably alive when its program, or the program that checks, changes its folder', async () => {
  const file = tempStore()
  const before = process.cwd()
  onTestFinished(() => process.chdir(before))
  process.chdir(dirname(file))
  const one = await openSqlite(basename(file))
  onTestFinished(() => one.close())
  const unlock = one.locks?.hold('k_one')
  onTestFinished(() => unlock?.())
  const other = await openSqlite(basename(file))
  onTestFinished(() => other.close())
  process.chdir('/')

  expect(readdirSync(`${file}-holders`), 'a lock needs no journal').toEqual(['k_one.lock'])
  expect(other.locks?.prove('k_one')).toBe('alive')
  expect(other.locks?.prove('k_nobody')).toBe('unknown')
})
