import { appendFileSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ProcessRecord } from 'reeve'
import { expect, test } from 'vitest'
import { CommandLine } from '../cli/command-line.ts'

test('a backup of a live home is restored into another with every ended process and its output', async () => {
  const reeve = new CommandLine()
  const into = join(reeve.temp.home.folder, 'copy')
  await reeve.run(['run', '--name', 'done', '-c', 'echo one; echo two >&2; exit 7'])
  const made = await reeve.json<{ folder: string; processes: number }>('backup', into)
  expect(made).toMatchObject({ folder: into, processes: 1 })
  const restored = new CommandLine()
  const report = await restored.json<{ processes: number; madeFrom: string }>('restore', into)
  expect(report).toMatchObject({ processes: 1, madeFrom: reeve.temp.home.folder })
  expect((await restored.run(['logs', 'done'])).stdout).toBe('one\ntwo\n')
  expect(await restored.json<ProcessRecord[]>('ps', '-a')).toEqual([
    expect.objectContaining({ name: 'done', status: 'failed' }),
  ])
  // The restored home is one of its own.
  expect((await restored.run(['run', '-c', 'echo three'])).stdout).toBe('three\n')
})

test('a backup is private to its owner, and contains neither the admin token nor the key of MCP connections', async () => {
  const reeve = new CommandLine()
  const into = join(reeve.temp.home.folder, 'copy')
  await reeve.run(['run', '-c', 'true'])
  expect((await reeve.run(['backup', into])).code).toBe(0)
  expect(statSync(into).mode & 0o077).toBe(0)
  expect(readdirSync(into)).not.toContain('token')
  const files = readdirSync(into, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  const token = readFileSync(reeve.temp.home.token, 'utf8').trim()
  for (const { parentPath, name } of files)
    expect(readFileSync(join(parentPath, name)).includes(token), name).toBe(false)
})

test('a backup that was changed is not restored, and nothing is written', async () => {
  const reeve = new CommandLine()
  const into = join(reeve.temp.home.folder, 'copy')
  const pid = (await reeve.run(['run', '-d', '-c', 'echo one'])).stdout.trim()
  await reeve.run(['wait', pid])
  await reeve.run(['backup', into])
  const [segment = ''] = readdirSync(join(into, 'output', pid))
  appendFileSync(join(into, 'output', pid, segment), 'more')
  const restored = new CommandLine()
  const refused = await restored.run(['restore', into])
  expect(refused.code).toBe(1)
  expect(refused.stderr).toContain(`output/${pid}/${segment} is not as it was when the backup was made`)
  expect(existsSync(restored.temp.home.store)).toBe(false)
})

test('a folder that is not a backup, a home in use and a non-empty target folder are refused with a reason', async () => {
  const reeve = new CommandLine()
  const { folder } = reeve.temp.home
  const none = await reeve.run(['restore', join(folder, 'nothing')])
  expect(none).toMatchObject({ code: 1, stderr: expect.stringContaining('it has no readable manifest.json') })
  const empty = await reeve.run(['backup', join(folder, 'copy')])
  expect(empty).toMatchObject({ code: 1, stderr: expect.stringContaining('it has no store') })
  await reeve.run(['run', '-c', 'true'])
  await reeve.run(['backup', join(folder, 'copy')])
  const again = await reeve.run(['backup', join(folder, 'copy')])
  expect(again).toMatchObject({ code: 1, stderr: expect.stringContaining('has files in it already') })
  const used = await reeve.run(['restore', join(folder, 'copy')])
  expect(used).toMatchObject({ code: 1, stderr: expect.stringContaining('is in use') })
  expect(readdirSync(folder).filter((name) => name.includes('partial'))).toEqual([])
})

test('a backup while commands print has whole lines up to the moment it was made', async () => {
  const reeve = new CommandLine()
  const { folder } = reeve.temp.home
  const stop = join(folder, 'stop')
  const line = `n=0; while [ ! -e ${stop} ]; do n=$((n+1)); echo line $n; sleep 0.01; done`
  const pid = (await reeve.run(['run', '-d', '--lifetime', 'detached', '-c', line])).stdout.trim()
  await reeve.run(['wait', pid, '--until', 'line 50'])
  expect((await reeve.run(['backup', join(folder, 'copy')])).code).toBe(0)
  writeFileSync(stop, '')
  await reeve.run(['wait', pid])
  const restored = new CommandLine()
  expect((await restored.run(['restore', join(folder, 'copy')])).code).toBe(0)
  const lines = (await restored.run(['logs', pid])).stdout.split('\n').slice(0, -1)
  expect(lines.length).toBeGreaterThanOrEqual(50)
  expect(lines).toEqual(lines.map((_, at) => `line ${at + 1}`))
})

test('commands that ran are abandoned in the restored home, their programs go on, and they can be restarted', async () => {
  const reeve = new CommandLine()
  const { folder } = reeve.temp.home
  const go = join(folder, 'go')
  const line = `while [ ! -e ${go} ]; do sleep 0.02; done; echo went; exit 4`
  const pid = (
    await reeve.run(['run', '-d', '--lifetime', 'detached', '--name', 'job', '-c', line])
  ).stdout.trim()
  expect((await reeve.run(['backup', join(folder, 'copy')])).code).toBe(0)
  const restored = new CommandLine()
  expect((await restored.run(['restore', join(folder, 'copy')])).code).toBe(0)
  const [record] = await restored.json<ProcessRecord[]>('ps', '-a')
  expect(record).toMatchObject({ pid, status: 'abandoned', outcome: { evidence: 'keeper_lost' } })
  // Nothing here reaches the program of the other home.
  await restored.run(['kill', pid])
  await restored.run(['kill', '--all'])
  expect((await reeve.json<ProcessRecord[]>('ps')).map((one) => one.pid)).toEqual([pid])
  writeFileSync(go, '')
  expect((await reeve.run(['wait', pid])).code).toBe(4)
  expect((await restored.run(['restart', pid])).code).toBe(0)
  expect((await restored.run(['wait', 'job'])).code).toBe(4)
})
