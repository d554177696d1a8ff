import { expect, test } from 'vitest'
import { CommandLine } from './command-line.ts'

interface Told {
  readonly place: number
  readonly kind: string
  readonly text: string
}

test('what a session is told is listed, followed, and acknowledged by a consumer or for everybody', async () => {
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
  expect((await reeve.run(['inbox', 's1', '--done', String(told[0]?.place)])).code).toBe(0)
  expect((await reeve.json<Told[]>('inbox', 's1')).map(({ kind }) => kind)).toEqual(['completion'])
  expect(await reeve.json<Told[]>('inbox', 's1', '--all')).toHaveLength(2)
  expect(await reeve.json<Told[]>('inbox', '--as', 'session:s1')).toHaveLength(1)
})

test('a word to the inbox that cannot be meant is answered with what to do', async () => {
  const reeve = new CommandLine()
  expect(await reeve.run(['inbox'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('session list'),
  })
  expect(await reeve.run(['inbox', 's1', '--done', 'x'])).toMatchObject({ code: 2 })
  expect(await reeve.run(['run', '-d', '--ready-timeout', '1s', 'true'])).toMatchObject({ code: 125 })
  expect(await reeve.run(['wait', 'x', '--ready', '--until', 'y'])).toMatchObject({ code: 125 })
  expect(await reeve.run(['run', '-d', '--ready', 'example.org:80', 'true'])).toMatchObject({
    code: 125,
    stderr: expect.stringContaining('on this machine alone'),
  })
})

test('a command in the background is waited for until it is ready, and lists have its port', async () => {
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
