import { chmodSync, statSync } from 'node:fs'
import { relative } from 'node:path'
import { expect, test } from 'vitest'
import { filesWith } from '../files-with.ts'
import { CommandLine } from './command-line.ts'

const CANARY = 'canary-c0ffee-2b9d47e1a6'

test('a secret reaches a command by name, and is in no file of the home but its own', async () => {
  const reeve = new CommandLine()
  const { folder, secrets } = reeve.temp.home
  expect(await reeve.run(['secret', 'set', 'npm'], { input: `${CANARY}\n` })).toMatchObject({
    code: 0,
    stdout: '',
    stderr: '',
  })
  expect(statSync(secrets).mode & 0o777).toBe(0o600)
  const measured = await reeve.run(['run', '--secret', 'npm=TOKEN', '-c', 'printf %s "$TOKEN" | wc -c'])
  expect(measured).toMatchObject({ code: 0, stdout: `${CANARY.length}\n` })
  // While it runs, too.
  const started = await reeve.run([
    'run',
    '-d',
    '--name',
    'holder',
    '--secret',
    'npm=TOKEN',
    '--',
    'sleep',
    '1000',
  ])
  expect(started.code).toBe(0)
  const said = await Promise.all([
    reeve.run(['show', 'holder', '--json']),
    reeve.run(['events', 'holder', '--json']),
    reeve.run(['ps', '-a', '--json']),
    reeve.run(['secret', 'list', '--json']),
    reeve.run(['call', 'changes', '{"limit":1000}']),
  ])
  for (const { code, stdout, stderr } of said) {
    expect(code).toBe(0)
    expect(stdout).not.toBe('')
    expect(`${stdout}${stderr}`).not.toContain(CANARY)
  }
  expect(filesWith(folder, CANARY)).toEqual([relative(folder, secrets)])
  await reeve.run(['kill', 'holder'])
  expect(filesWith(folder, CANARY)).toEqual([relative(folder, secrets)])
  expect((await reeve.run(['secret', 'rm', 'npm'])).stdout).toBe('npm\n')
  expect(filesWith(folder, CANARY)).toEqual([])
})

test('a secret in the output of a command is masked; without the secret the command does not start', async () => {
  const reeve = new CommandLine()
  await reeve.run(['secret', 'set', 'TOKEN'], { input: CANARY })
  const pid = (await reeve.run(['run', '-d', '--secret', 'TOKEN', '-c', 'echo "[$TOKEN]"'])).stdout.trim()
  await reeve.run(['wait', pid])
  expect((await reeve.run(['logs', pid])).stdout).toBe(`[${'*'.repeat(CANARY.length)}]\n`)
  const unknown = await reeve.run(['run', '--secret', 'OTHER', '-c', 'echo ran'])
  expect(unknown).toMatchObject({ code: 126, stdout: '' })
  expect(unknown.stderr).toContain('The secret OTHER is not set.')
  expect(unknown.stderr).toContain('reeve secret set OTHER')
  const unnamed = await reeve.run(['run', '--secret', 'npm.token', '-c', 'true'])
  expect(unnamed.code).not.toBe(0)
  expect(unnamed.stderr).toContain('not a valid variable name')
})

test('secrets are listed by name, removed by name, and never taken from arguments or inside a process', async () => {
  const reeve = new CommandLine()
  for (const name of ['B', 'A']) await reeve.run(['secret', 'set', name], { input: CANARY })
  const list = await reeve.run(['secret', 'list'])
  expect(list.stdout.split('\n').map((line) => line.split(/ +/)[0])).toEqual(['NAME', 'A', 'B', ''])
  expect((await reeve.run(['secret', 'rm', 'A', 'nope'])).stderr).toContain('There is no secret nope.')
  expect(await reeve.json<{ name: string }[]>('secret', 'list')).toMatchObject([{ name: 'B' }])
  for (const words of [
    ['set', 'C', 'value'],
    ['set', 'C=value'],
  ]) {
    const refused = await reeve.run(['secret', ...words])
    expect(refused.code).toBe(2)
    expect(refused.stderr).toContain('other users can read the arguments')
  }
  const inside = await reeve.run(['secret', 'list'], { env: { REEVE_PROCESS: 'p_1@h_1' } })
  expect(inside.stderr).toContain('not set inside a Reeve process')
  expect(inside.code).not.toBe(0)
  const empty = await reeve.run(['secret', 'set', 'C'], { input: '\n' })
  expect(empty.code).not.toBe(0)
  const short = await reeve.run(['secret', 'set', 'C'], { input: 'abc' })
  expect(short).toMatchObject({ code: 0, stderr: expect.stringContaining('not masked') })
})

test('at a terminal the value is read without echo', async () => {
  const reeve = new CommandLine()
  const terminal = reeve.terminal(['secret', 'set', 'TOKEN'])
  await terminal.until('Value of TOKEN: ')
  terminal.type(`wrong\u0015${CANARY}x\u007f\r`)
  expect(await terminal.ended).toBe(0)
  expect(terminal.shown).not.toContain('canary')
  expect(terminal.shown).not.toContain('wrong')
  const measured = await reeve.run(['run', '--secret', 'TOKEN', '-c', 'printf %s "$TOKEN" | wc -c'])
  expect(measured.stdout).toBe(`${CANARY.length}\n`)
  const cancelled = reeve.terminal(['secret', 'set', 'OTHER'])
  await cancelled.until('Value of OTHER: ')
  cancelled.type('half\u0003')
  expect(await cancelled.ended).not.toBe(0)
  expect(await reeve.json<{ name: string }[]>('secret', 'list')).toMatchObject([{ name: 'TOKEN' }])
})

test('the doctor checks the secrets file, and one that others can read is refused', async () => {
  const reeve = new CommandLine()
  const { secrets } = reeve.temp.home
  const looked = async () => {
    const { stdout } = await reeve.run(['doctor', '--json'])
    const checks = JSON.parse(stdout) as { name: string; state: string; found: string; fix?: string }[]
    return checks.find(({ name }) => name === 'secrets')
  }
  expect(await looked()).toMatchObject({ state: 'good', found: 'none are set' })
  await reeve.run(['secret', 'set', 'TOKEN'], { input: CANARY })
  expect(await looked()).toMatchObject({ state: 'good', found: `1 in ${secrets}` })
  chmodSync(secrets, 0o644)
  expect(await looked()).toMatchObject({ state: 'bad', fix: expect.stringContaining(`chmod 600 ${secrets}`) })
  const refused = await reeve.run(['run', '--secret', 'TOKEN', '-c', 'echo ran'])
  expect(refused).toMatchObject({ code: 126, stdout: '' })
  expect(refused.stderr).toContain('other users can read or write it')
})
