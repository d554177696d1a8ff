import { connect } from 'reeve'
import { expect, onTestFinished, test } from 'vitest'
import { TokenFile } from '../../src/daemon/token-file.ts'
import { CommandLine } from './command-line.ts'

/** A daemon, and an agent with the session s1 that talks to it over TCP. */
async function withAgent() {
  const reeve = new CommandLine()
  const { temp } = reeve
  await reeve.run(['up', '-d', '--listen', '127.0.0.1:0'])
  await reeve.run(['session', 'open', 's1'])
  const { token } = new TokenFile(temp.home).create({ role: 'agent', session: 's1' })
  const agent = await connect({ url: temp.announced()?.url ?? '', token })
  onTestFinished(() => agent.close())
  return { reeve, agent }
}

test('a question survives kill -9 of the daemon, and the asker that waits gets the reply of the command line', async () => {
  const { reeve, agent } = await withAgent()
  const { record, approval } = await agent.ask({ question: 'Which port?', choices: ['80', '8080'] })
  const daemon = reeve.temp.announced()
  process.kill(daemon?.osPid ?? 0, 'SIGKILL')
  const listed = await reeve.run(['approvals'])
  expect(listed.stdout).toContain('session:s1')
  expect(listed.stdout).toContain('Which port? (80, 8080)')
  const other = await reeve.run(['reply', approval, '81'])
  expect(other.code).not.toBe(0)
  expect(other.stderr).toContain('Reply with one of: 80, 8080.')
  const replied = await reeve.run(['reply', approval, '2'])
  expect(replied).toMatchObject({ code: 0, stdout: expect.stringContaining(`${approval} replied by `) })
  const ended = await reeve.json<{ outcome: object }>('show', record.pid)
  expect(ended.outcome).toMatchObject({ status: 'completed', result: '8080' })
  const late = await reeve.run(['deny', approval])
  expect(late.stdout).toContain('was replied by')
})

test('reply needs a text, and refuses inside of a process of Reeve', async () => {
  const reeve = new CommandLine()
  const wrong = await reeve.run(['reply', 'a_1'])
  expect(wrong.stderr).toContain('reeve reply needs the id of a question and a text.')
  const inside = await reeve.run(['reply', 'a_1', 'x'], { env: { REEVE_PROCESS: 'p_azzzzzzzzzzz@home' } })
  expect(inside.code).not.toBe(0)
  expect(inside.stderr).toContain('is for people')
})
