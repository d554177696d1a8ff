import { expect, test } from 'vitest'
import { CommandLine } from './command-line.ts'

test('message puts a text or JSON into the inbox of a process', async () => {
  const line = new CommandLine()
  const started = await line.run(['run', '-d', '--name', 'web', 'sleep', '300'])
  const pid = started.stdout.trim()
  const text = ['message', '--channel', 'hints', '--interrupt', 'web', 'look', 'there']
  expect(await line.run(text)).toMatchObject({ code: 0, stdout: '', stderr: '' })
  const answer = await line.run(['message', '--json', '--value', '{"id":7}', '--correlation-id', 'c', pid])
  expect(JSON.parse(answer.stdout)).toMatchObject({ type: 'sent', to: `process:${pid}` })
  const { stdout } = await line.run(['call', 'notices', JSON.stringify({ scope: `process:${pid}` })])
  const { notices } = JSON.parse(stdout) as { notices: { kind: string; text: string; payload: unknown }[] }
  expect(notices.map(({ kind, payload }) => [kind, payload])).toEqual([
    [
      'message',
      {
        from: 'host',
        channel: 'hints',
        correlationId: null,
        replyTo: null,
        priority: 'interrupt',
        value: 'look there',
      },
    ],
    [
      'message',
      {
        from: 'host',
        channel: null,
        correlationId: 'c',
        replyTo: null,
        priority: 'normal',
        value: { id: 7 },
      },
    ],
  ])
  expect(notices[0]?.text).toMatch(/^host sent an urgent message \(channel hints\) at \S+Z: look there$/)
})

test('message names what is missing or wrong, and an ended process refuses it', async () => {
  const line = new CommandLine()
  for (const [args, said] of [
    [['message'], 'needs a process'],
    [['message', 'web'], 'needs a text, or --value'],
    [['message', '--value', '{', 'web'], 'not JSON'],
  ] as const)
    expect(await line.run(args)).toMatchObject({ code: 2, stderr: expect.stringContaining(said) })
  await line.run(['run', '-d', '--name', 'job', 'true'])
  await line.run(['wait', 'job'])
  const { code, stderr } = await line.run(['message', 'job', 'hello'])
  expect(code).not.toBe(0)
  expect(stderr).toContain('has ended')
})
