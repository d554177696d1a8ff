import { expect, test } from 'vitest'
import { CommandLine } from './command-line.ts'

interface Told {
  readonly position: number
  readonly kind: string
  readonly text: string
}

test('the notices of a session are listed, followed, and acknowledged by one consumer or marked as done for all', async () => {
  const reeve = new CommandLine()
  await reeve.run(['session', 'open', 's1'])
  const follower = reeve.start(['inbox', 's1', '-f'])
  const line = 'echo "ERROR: no space"; exit 3'
  await reeve.run(['run', '-d', '--session', 's1', '--name', 'job', '--watch', 'ERROR', '-c', line])
  expect((await reeve.run(['wait', 'job'])).code).toBe(3)
  await follower.printed('completion')
  follower.child.kill()
  expect((await follower.ended).stdout).toMatch(
    /watch_match\n.*ERROR: no space\n.*completion\n.*exit code 3/s,
  )

  const told = await reeve.json<Told[]>('inbox', 's1')
  expect(told.map(({ kind }) => kind)).toEqual(['watch_match', 'completion'])
  expect(await reeve.json<Told[]>('inbox', 's1', '--new', '--ack')).toEqual(told)
  expect(await reeve.json('inbox', 's1', '--new')).toEqual([])
  expect(await reeve.json<Told[]>('inbox', 's1', '--new', '--consumer', 'other')).toEqual(told)
  expect((await reeve.run(['inbox', 's1', '--done', String(told[0]?.position)])).code).toBe(0)
  expect((await reeve.json<Told[]>('inbox', 's1')).map(({ kind }) => kind)).toEqual(['completion'])
  expect(await reeve.json<Told[]>('inbox', 's1', '--all')).toHaveLength(2)
  expect(await reeve.json<Told[]>('inbox', '--as', 'session:s1')).toHaveLength(1)
})

test('commands without a session that ask for it notify the person at the machine, and no session', async () => {
  const reeve = new CommandLine()
  expect((await reeve.run(['inbox'])).stdout).toBe('')
  const started = await reeve.run([
    'run',
    '-d',
    '--name',
    'job',
    '--watch',
    'ERROR',
    '-c',
    'echo ERROR; exit 3',
  ])
  expect(started).toMatchObject({ code: 0, stderr: '', stdout: expect.stringMatching(/^p_\w+\n$/) })
  await reeve.run(['wait', 'job'])
  await reeve.run(['run', '--', 'true'])
  await reeve.run(['run', '-d', '--notify', 'none', '--name', 'quiet', '--', 'true'])
  await reeve.run(['wait', 'quiet'])
  const told = await reeve.json<Told[]>('inbox')
  expect(told.map(({ kind }) => kind)).toEqual(['watch_match', 'completion'])
  expect(told[1]?.text).toContain('exit code 3')
  expect(await reeve.json<Told[]>('inbox', '--ack')).toEqual(told)
  expect(await reeve.json<Told[]>('inbox', '--new')).toEqual([])
  await reeve.run(['session', 'open', 's1'])
  const position = told[0]?.position ?? 0
  for (const words of [
    ['call', 'notices', '{"scope":"human:host"}'],
    ['call', 'acknowledge', `{"scope":"human:host","consumer":"x","positions":[${position}]}`],
  ])
    expect(await reeve.run([...words, '--as', 'session:s1'])).toMatchObject({ code: 4 })
  expect((await reeve.run(['inbox', '--done', String(position)])).code).toBe(0)
  expect((await reeve.json<Told[]>('inbox')).map(({ kind }) => kind)).toEqual(['completion'])
})

test('at a terminal, run -d says where its end will be reported', async () => {
  const reeve = new CommandLine()
  const at = reeve.terminal(['run', '-d', '--', 'true'])
  await at.ended
  expect(at.shown).toContain('reeve inbox will show its end')
})

test('only shown notices are acknowledged, and the number of the others is printed', async () => {
  const reeve = new CommandLine()
  await reeve.run(['session', 'open', 's1'])
  for (const name of ['one', 'two', 'three']) {
    await reeve.run(['run', '-d', '--session', 's1', '--name', name, '--', 'true'])
    await reeve.run(['wait', name])
  }
  const [, , last] = await reeve.json<Told[]>('inbox', 's1')
  const newest = await reeve.run(['inbox', 's1', '-n', '1'])
  expect(newest.stdout).toContain('three')
  expect(newest.stderr).toContain('2 more before these')
  const first = await reeve.run(['inbox', 's1', '--ack', '-n', '1'])
  expect(first.stdout).toContain('one')
  expect(first.stderr).toContain('2 more')
  const rest = await reeve.run(['inbox', 's1', '--ack'])
  expect(rest.stdout).toMatch(/two.*three/s)
  expect(rest.stderr).toBe('')
  expect((await reeve.run(['inbox', 's1', '--new'])).stdout).toBe('')
  expect(
    await reeve.run(['inbox', 's1', '--done', '777777', '--done', String(last?.position)]),
  ).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('There is no notice 777777 of session:s1'),
  })
  expect(await reeve.json<Told[]>('inbox', 's1')).toHaveLength(2)
})

test('a wrong call of inbox is refused with a remedy', async () => {
  const reeve = new CommandLine()
  expect(await reeve.run(['inbox', 's1', '--done', 'x'])).toMatchObject({ code: 2 })
  expect(await reeve.run(['run', '-d', '--ready-timeout', '1s', 'true'])).toMatchObject({ code: 125 })
  expect(await reeve.run(['wait', 'x', '--ready', '--until', 'y'])).toMatchObject({ code: 125 })
  expect(await reeve.run(['run', '-d', '--ready', 'example.org:80', 'true'])).toMatchObject({
    code: 125,
    stderr: expect.stringContaining('on this machine only'),
  })
})

test('wait --ready waits for a command in the background, and lists show its port', async () => {
  const reeve = new CommandLine()
  const server = `const s = require('node:http').createServer((_, a) => a.end('hi')).listen(0, '127.0.0.1', () => console.log('listening on', s.address().port))`
  await reeve.run([
    'run',
    '-d',
    '--name',
    'web',
    '--ready',
    '/listening on \\d+/',
    '--',
    process.execPath,
    '-e',
    server,
  ])
  expect((await reeve.run(['wait', 'web', '--ready', '-t', '30s'])).code).toBe(0)
  const port = /\d+/.exec((await reeve.run(['logs', 'web'])).stdout)?.[0]
  expect((await reeve.run(['ps'])).stdout).toMatch(new RegExp(`:${port} +\\S*node`))
  const shown = (await reeve.run(['show', 'web'])).stdout
  expect(shown).toMatch(new RegExp(`ports +:${port}`))
  expect(shown).toMatch(/ready +\d/)
  for (const [index, here] of [`${port}`, `:${port}`, `localhost:${port}`, `[::1]:${port}`].entries()) {
    await reeve.run(['run', '-d', '--name', `same${index}`, '--ready', here, '--', 'sleep', '1000'])
    const { spec } = await reeve.json<{ spec: object }>('show', `same${index}`)
    expect(spec).toMatchObject({ ready: { port: Number(port) } })
  }
})
