import { expect, test } from 'vitest'
import { CommandLine } from './command-line.ts'

test('a name means the live process, not a later one that has ended', async () => {
  const reeve = new CommandLine()
  const server = (await reeve.run(['run', '-d', '--name', 'srv', '--', 'sleep', '60'])).stdout.trim()
  const second = await reeve.run(['run', '-d', '--name', 'srv', '--', 'true'])
  const pid = second.stdout.trim()
  expect(second.stderr).toBe(
    `reeve: ${server} has the name srv, too, and goes on running: while ${pid} lives, srv means ${pid}.\n`,
  )
  await reeve.run(['wait', pid])
  expect((await reeve.run(['kill', 'srv'])).stdout).toBe('srv  cancelled SIGTERM\n')
  expect((await reeve.run(['ps', '-q'])).stdout).toBe('')
})

test('an unknown session is named, with the subcommand that opens it', async () => {
  const reeve = new CommandLine()
  const remedy = 'reeve session open s9 opens it; reeve session list lists all sessions.'
  const stderr = `reeve: There is no session s9.\n${remedy}\n`
  expect(await reeve.run(['inbox', 's9'])).toMatchObject({ code: 3, stdout: '', stderr })
  expect(await reeve.run(['inbox', 's9', '-f'])).toMatchObject({ code: 3, stdout: '', stderr })
  expect(await reeve.run(['inbox', 's9', '--done', '1'])).toMatchObject({ code: 3, stderr })
  expect(await reeve.run(['run', '-d', '--session', 's9', 'true'])).toMatchObject({ code: 125, stderr })
  await reeve.run(['session', 'open', 's9'])
  expect(await reeve.run(['inbox', 's9'])).toMatchObject({ code: 0, stdout: '', stderr: '' })
})

test('an invalid option value is reported with the option and the allowed values', async () => {
  const reeve = new CommandLine()
  const said = async (...words: string[]) => (await reeve.run(['run', '-d', ...words, '--', 'true'])).stderr
  const refused = (given: string, takes: string) => `reeve: ${given}\n${takes}\n`
  expect(await said('--heartbeat', '5s')).toBe(refused('--heartbeat was given 5s.', 'It takes 1m or more.'))
  expect(await said('--ready', ':99999')).toBe(
    '--ready was given :99999.\nA port is a number from 1 to 65535.\n',
  )
  expect(await said('--name', 'my web')).toBe(
    refused(
      '--name was given my web.',
      'It takes letters, digits, dots, dashes and underscores, at most 100.',
    ),
  )
  expect(await said('--name', 'p_web')).toBe(
    refused('--name was given p_web.', 'It must not look like a pid.'),
  )
  expect(await said('--name', 'x y', '--timeout', '0')).toBe(
    refused(
      '--timeout was given 0. --name was given x y.',
      '--timeout takes 1ms or more. --name takes letters, digits, dots, dashes and underscores, at most 100.',
    ),
  )
  expect(await said('--watch', 'a', '--watch', '/a/')).toContain('--watch was given a, /a/.')
  expect(await said('--watch', 'a', '--watch', 'a')).toBe('')
  expect((await reeve.run(['kill', 'web', '--grace', '30d'])).stderr).toContain('--grace was given 30d.')
  const asJson = await reeve.run(['run', '-d', '--heartbeat', '5s', '--json', '--', 'true'])
  expect(JSON.parse(asJson.stderr)).toMatchObject({ error: { code: 'invalid_input' } })
})

test('a wait with an invalid pattern does not keep a daemon from stopping', async () => {
  const reeve = new CommandLine()
  await reeve.run(['run', '-d', '--name', 'web', 'sleep', '60'])
  expect(await reeve.run(['wait', 'web', '--pattern', '('])).toMatchObject({ code: 125 })
  expect(await reeve.run(['down'])).toMatchObject({ code: 0, stderr: '' })
})

test('a wait for readiness that timed out names the check and its last failure', async () => {
  const reeve = new CommandLine()
  await reeve.run(['run', '-d', '--name', 'web', '--ready', 'exit 7', '--ready-timeout', '1s', 'sleep', '60'])
  const late = await reeve.run(['wait', 'web', '--ready'])
  expect(late.code).toBe(124)
  expect(late.stderr).toMatch(
    /^reeve: web was not ready within 1s: it is ready when 'exit 7' succeeds\. The last check: .*\. It goes on running\.\n$/,
  )
  await reeve.run(['run', '-d', '--name', 'slow', '--ready', 'exit 7', 'sleep', '60'])
  const early = await reeve.run(['wait', 'slow', '--ready', '-t', '1ms'])
  expect(early).toMatchObject({ code: 124, stderr: 'reeve: slow has not become ready in time.\n' })
})

test('a wait for a process that was restarted names the new process', async () => {
  const reeve = new CommandLine()
  const restart = ['--restart', 'failure', '--restart-limit', '1']
  const line = 'read go; echo one; exit 3'
  const first = (await reeve.run(['run', '-di', '--name', 'web', ...restart, '-c', line])).stdout.trim()
  const waiting = reeve.start(['wait', first])
  await reeve.run(['send', first, 'go'])
  const waited = await waiting.ended
  const { pid: second } = await reeve.json<{ pid: string }>('show', 'web')
  expect(second).not.toBe(first)
  expect(waited).toMatchObject({
    code: 3,
    stderr: `reeve: web was started again as ${second}: reeve wait ${second} waits for it.\n`,
  })
})

test('show prints the options of a command, and the result of other kinds', async () => {
  const reeve = new CommandLine()
  const watched = ['--ready', ':9', '--ready-timeout', '2m', '--watch', 'ERR', '--watch', '/a b/']
  const limited = ['--heartbeat', '5m', '--restart', 'failure', '--timeout', '1h']
  await reeve.run(['run', '-d', '--name', 'web', ...watched, ...limited, 'sleep', '60'])
  const shown = (await reeve.run(['show', 'web'])).stdout
  for (const fact of [
    /^ready when +port 9 accepts connections, within 2m$/m,
    /^watched for +ERR, \/a b\/$/m,
    /^notify +when it ends$/m,
    /^heartbeat +every 5m at most$/m,
    /^restart +when it fails$/m,
    /^time limit +1h$/m,
  ])
    expect(shown).toMatch(fact)
  const spawned = await reeve.run([
    'call',
    'spawn',
    '{"kind":"external","name":"job","spec":{"description":"x"}}',
  ])
  const { record } = JSON.parse(spawned.stdout) as { record: { pid: string } }
  const end = { pid: record.pid, status: 'completed', result: { sent: 3 }, replayKey: 'e' }
  await reeve.run(['call', 'end', JSON.stringify(end)])
  expect((await reeve.run(['show', 'job'])).stdout).toMatch(/^result +\{"sent":3\}$/m)
})
