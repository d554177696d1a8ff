import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { embed, type ProcessRecord } from 'reeve'
import { expect, test } from 'vitest'
import { CommandLine } from './command-line.ts'

interface Removed {
  readonly pruned: string[]
  readonly kept: { readonly pid: string; readonly reason: string }[]
}

const ended = async (reeve: CommandLine, name: string) => {
  const pid = (await reeve.run(['run', '-d', '--name', name, '-c', `echo ${name}`])).stdout.trim()
  await reeve.run(['wait', pid])
  return pid
}
const outputOf = (reeve: CommandLine) => readdirSync(join(reeve.temp.home.commands, 'output'))

test('rm removes an ended process with its output, and refuses a live one without -f', async () => {
  const reeve = new CommandLine()
  const pid = await ended(reeve, 'done')
  const running = (await reeve.run(['run', '-d', '--name', 'web', '--', 'sleep', '60'])).stdout.trim()
  expect(outputOf(reeve)).toContain(pid)
  expect((await reeve.run(['rm', 'done'])).stdout).toBe('done  removed\n')
  expect(outputOf(reeve)).not.toContain(pid)
  expect((await reeve.run(['show', pid])).code).toBe(3)
  const refused = await reeve.run(['rm', 'web'])
  expect(refused).toMatchObject({ code: 1, stdout: '' })
  expect(refused.stderr).toBe('reeve: web was not removed: it runs.\nEnd it first: reeve rm -f web\n')
  expect(await reeve.json<Removed>('rm', 'web')).toEqual({
    pruned: [],
    kept: [{ pid: running, reason: 'live' }],
  })
  expect((await reeve.run(['rm', '-f', 'web'])).stdout).toBe('web  removed\n')
  expect((await reeve.run(['rm', 'nothing'])).code).toBe(3)
})

test('prune keeps the latest ended processes, and is refused without a limit', async () => {
  const reeve = new CommandLine()
  const pids = [await ended(reeve, 'one'), await ended(reeve, 'two'), await ended(reeve, 'three')]
  expect((await reeve.run(['prune'])).code).toBe(2)
  expect((await reeve.run(['prune', '--older-than', '90d'])).stdout).toBe('Removed 0 processes.\n')
  expect((await reeve.run(['prune', '--keep', '1'])).stdout).toBe('Removed 2 processes.\n')
  const left = await reeve.json<ProcessRecord[]>('ps', '-a')
  expect(left.map(({ pid }) => pid)).toEqual(pids.slice(2))
  expect((await reeve.run(['status'])).stdout).toMatch(/ended +1 kept \(for 14d, up to 20000\), 2 pruned at /)
})

test('a daemon prunes by its settings, also processes of an earlier daemon', async () => {
  const reeve = new CommandLine()
  const pids = [await ended(reeve, 'one'), await ended(reeve, 'two')]
  await reeve.run(['down'])
  await reeve.run(['up', '-d', '--keep-ended', '1'])
  await expect
    .poll(async () => (await reeve.json<ProcessRecord[]>('ps', '-a')).map(({ pid }) => pid))
    .toEqual(pids.slice(1))
  await expect.poll(() => outputOf(reeve)).toEqual(pids.slice(1))
})

test('output whose process was pruned by a daemon that was killed then is removed by the next', async () => {
  const reeve = new CommandLine()
  const pid = await ended(reeve, 'done')
  await reeve.run(['down'])
  const { temp } = reeve
  const output = join(temp.home.commands, 'output', pid)
  // As a kill between the commit and the removal leaves it: the store does not know the process any more.
  const other = await embed({ store: temp.home.store })
  expect(await other.prune({ pids: [pid] })).toEqual({ pruned: [pid], kept: [] })
  await other.close()
  expect(existsSync(output)).toBe(true)
  await reeve.run(['up', '-d'])
  await expect.poll(() => existsSync(output)).toBe(false)
})
