import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { tempFolder } from '../temp-folder.ts'
import { CommandLine } from './command-line.ts'

test('subcommands of similar programs do the same, or name what to type instead', async () => {
  const line = new CommandLine()
  await line.run(['run', '-d', '--name', 'web', 'sleep', '300'])
  expect((await line.run(['list'])).stdout).toContain('web')
  expect((await line.run(['ls'])).stdout).toContain('web')
  expect((await line.run(['stop', 'web'])).stdout).toBe('web  cancelled SIGTERM\n')
  expect((await line.run(['help', 'stop'])).stdout).toContain('Usage: reeve kill')
  for (const [name, instead] of [
    ['start', 'reeve run -d'],
    ['exec', 'reeve run -- '],
    ['tail', 'reeve logs -n 20'],
    ['remove', 'reeve rm web'],
    ['delete', 'reeve rm web'],
  ] as const) {
    const { code, stderr } = await line.run([name, 'web'])
    expect(code).toBe(2)
    expect(stderr).toContain(`Unknown subcommand: ${name}.`)
    expect(stderr).toContain(instead)
  }
})

test('kill reports the outcome of a process that had ended before', async () => {
  const line = new CommandLine()
  await line.run(['run', '-d', '--name', 'job', '-c', 'exit 3'])
  await line.run(['wait', 'job'])
  const { stdout, code } = await line.run(['kill', 'job'])
  expect(stdout).toMatch(/^job {2}had ended before: failed 3, (just now|\d+\w+ ago)\n$/)
  expect(code).toBe(0)
})

test('attach prints its detach key', async () => {
  const line = new CommandLine()
  await line.run(['run', '-d', '--pty', '--name', 'shell', '-c', 'echo begun; sleep 300'])
  const usual = line.terminal(['attach', 'shell'])
  await usual.until('begun')
  usual.type('\u001d')
  expect(await usual.ended).toBe(0)
  expect(usual.shown).toContain('Attached to shell: Ctrl-] detaches and leaves it running.')
  const other = line.terminal(['attach', 'shell', '--detach-key', 'ctrl-x'])
  await other.until('Attached to shell: Ctrl-x detaches and leaves it running.')
  await other.until('begun')
  other.type('\u0018')
  expect(await other.ended).toBe(0)
})

test('--if-not-running starts nothing while a process of the name is live, also for two calls at once', async () => {
  const line = new CommandLine()
  await line.run(['ps'])
  const words = ['run', '-d', '--name', 'db', '--if-not-running', 'sleep', '300']
  const both = await Promise.all([line.run(words), line.run(words)])
  const pids = both.map(({ stdout }) => stdout.trim())
  expect(new Set(pids).size).toBe(1)
  expect(both.filter(({ stderr }) => stderr.includes(`db is already running as ${pids[0]}`))).toHaveLength(1)
  expect((await line.json<object[]>('ps')).length).toBe(1)
  await line.run(['kill', 'db'])
  const again = await line.run(words)
  expect(again).toMatchObject({ code: 0, stderr: '' })
  expect(again.stdout.trim()).not.toBe(pids[0])
})

test('--replace ends the process of the name first, and starts one where none runs', async () => {
  const line = new CommandLine()
  const words = ['run', '-d', '--name', 'web', '--replace', 'sleep', '300']
  const first = (await line.run(words)).stdout.trim()
  const replaced = await line.run(words)
  expect(replaced).toMatchObject({ code: 0, stderr: '' })
  const second = replaced.stdout.trim()
  expect(second).not.toBe(first)
  expect((await line.json<{ status: string }>('show', first)).status).toBe('cancelled')
  const atOnce = await Promise.all([line.run(words), line.run(words)])
  for (const { code } of atOnce) expect(code).toBe(0)
  const live = await line.json<{ pid: string }[]>('ps')
  expect(live).toHaveLength(1)
})

test('--replace and --if-not-running need a name', async () => {
  const line = new CommandLine()
  const nameless = await line.run(['run', '-d', '--replace', 'true'])
  expect(nameless).toMatchObject({ code: 125, stdout: '' })
  expect(nameless.stderr).toContain('--replace needs a name.')
})

test('--replace ends nothing for a program that is not found in the PATH of the command', async () => {
  const line = new CommandLine()
  const bin = tempFolder()
  writeFileSync(join(bin, 'server'), '#!/bin/sh\nexec sleep 300\n', { mode: 0o755 })
  writeFileSync(join(bin, 'notes'), 'not a program\n', { mode: 0o644 })
  const replace = (...rest: string[]) => line.run(['run', '-d', '--name', 'web', '--replace', ...rest])
  const first = (await replace('sleep', '300')).stdout.trim()
  const refused = await replace('server')
  expect(refused).toMatchObject({ code: 127, stdout: '' })
  expect(refused.stderr).toBe(
    'reeve: Nothing was replaced: there is no server in PATH.\n' +
      'Correct the command. A process of that name was left as it was.\n',
  )
  expect(await replace('-e', `PATH=${bin}:/bin`, 'notes')).toMatchObject({ code: 126 })
  expect(await replace('-w', join(bin, 'none'), 'sleep', '1')).toMatchObject({ code: 126 })
  expect(await line.json('show', 'web')).toMatchObject({ pid: first, outcome: null })
  const second = await replace('-e', `PATH=${bin}:/usr/bin:/bin`, 'server')
  expect(second).toMatchObject({ code: 0 })
  expect(await line.json('show', first)).toMatchObject({ outcome: { status: 'cancelled' } })
  expect(await line.json('show', 'web')).toMatchObject({ pid: second.stdout.trim(), outcome: null })
})

test('a variable of --pass-env that is set nowhere is warned of on standard error, also without a terminal', async () => {
  const line = new CommandLine()
  const { code, stdout, stderr } = await line.run(['run', '--pass-env', 'NO_SUCH_TOKEN', '--', 'echo', 'ran'])
  expect({ code, stdout }).toEqual({ code: 0, stdout: 'ran\n' })
  expect(stderr).toContain('NO_SUCH_TOKEN of --pass-env is set neither here nor')
})

test('show prints local times with their offset, and JSON has milliseconds', async () => {
  const line = new CommandLine()
  await line.run(['run', '-d', '--name', 'job', 'true'])
  await line.run(['wait', 'job'])
  const { stdout } = await line.run(['show', 'job'], { env: { TZ: 'Asia/Kathmandu' } })
  const { outcome } = await line.json<{ outcome: { endedAt: number } }>('show', 'job')
  const local = new Date(outcome.endedAt + (5 * 60 + 45) * 60_000).toISOString().slice(0, 19)
  expect(stdout).toMatch(/^started +\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+05:45 \(/m)
  expect(stdout).toContain(`${local}+05:45 (`)
})
