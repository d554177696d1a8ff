import { expect, test } from 'vitest'
import { CommandLine } from './command-line.ts'

test('a name means the process that runs, not one that came later and has ended', async () => {
  const reeve = new CommandLine()
  const server = (await reeve.run(['run', '-d', '--name', 'srv', '--', 'sleep', '60'])).stdout.trim()
  const second = await reeve.run(['run', '-d', '--name', 'srv', '--', 'true'])
  const pid = second.stdout.trim()
  expect(second.stderr).toBe(
    `reeve: ${server} has the name srv, too, and goes on: while ${pid} lives, srv means ${pid}.\n`,
  )
  await reeve.run(['wait', pid])
  expect((await reeve.run(['kill', 'srv'])).stdout).toBe('srv  cancelled SIGTERM\n')
  expect((await reeve.run(['ps', '-q'])).stdout).toBe('')
})

test('a session that is not there is named, with the word that opens it', async () => {
  const reeve = new CommandLine()
  const remedy = 'reeve session open s9 opens it; reeve session list shows which there are.'
  const stderr = `reeve: There is no session s9.\n${remedy}\n`
  expect(await reeve.run(['inbox', 's9'])).toMatchObject({ code: 3, stdout: '', stderr })
  expect(await reeve.run(['inbox', 's9', '-f'])).toMatchObject({ code: 3, stdout: '', stderr })
  expect(await reeve.run(['inbox', 's9', '--done', '1'])).toMatchObject({ code: 3, stderr })
  expect(await reeve.run(['run', '-d', '--session', 's9', 'true'])).toMatchObject({ code: 125, stderr })
  await reeve.run(['session', 'open', 's9'])
  expect(await reeve.run(['inbox', 's9'])).toMatchObject({ code: 0, stdout: '', stderr: '' })
})

test('what an option cannot take is said with its name and what it takes', async () => {
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
  const asJson = await reeve.run(['run', '-d', '--heartbeat', '5s', '--json', '--', 'true'])
  expect(JSON.parse(asJson.stderr)).toMatchObject({ error: { code: 'invalid_input' } })
})
