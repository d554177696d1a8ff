import { connect } from 'reeve'
import { expect, onTestFinished, test } from 'vitest'
import { userName } from '../../src/os/user-name.ts'
import { CommandLine } from './command-line.ts'

/** A home in which the session s1 is asked about `touch`. */
async function asking(reeve: CommandLine) {
  await reeve.run(['policy', 'add', 'ask', 'shell:touch', '--because', 'new files are reviewed'])
  await reeve.run(['session', 'open', 's1'])
  const host = await connect({ home: reeve.temp.home.folder })
  onTestFinished(() => host.close())
  const agent = host.as('session:s1')
  const spawn = async (name: string) => {
    const spec = { argv: ['touch', name] }
    const { record } = await agent.spawn({ kind: 'command', spec, cwd: reeve.temp.folder })
    return { pid: record.pid, id: record.gate?.approval ?? '' }
  }
  return { host, agent, spawn }
}

test('inbox, ps, show, status and top say what waits for you, and how to answer', async () => {
  const reeve = new CommandLine()
  const { agent, spawn } = await asking(reeve)
  expect((await reeve.run(['inbox'])).stdout).toBe('')
  const { pid, id } = await spawn('one')
  const how = `reeve approve ${id}, or reeve deny ${id} [advice]`
  expect((await reeve.run(['inbox'])).stdout).toBe(`1 approval waits for you: ${how}\n`)
  const listed = await reeve.run(['ps'])
  expect(listed.stdout).toContain('waiting (approval)')
  expect(listed.stderr).toContain(`1 of them waits for you: ${how}`)
  const shown = await reeve.run(['show', pid])
  expect(shown.stdout).toContain(`waiting for approval ${id}`)
  expect(shown.stdout).toContain(how)
  const status = (await reeve.run(['status'])).stdout
  expect(status).toContain(`1 approval waits for you: ${how}`)
  expect(status).toMatch(/running +0 processes\n.*waiting +1 for an approval/)
  expect(shown.stdout).not.toContain('started')
  const snapshot = await reeve.run(['top', '--once'])
  expect(snapshot.stdout).toContain('waiting (approval)')
  expect(snapshot.stderr).toContain(`1 approval waits for you: ${how}`)

  const asked = await agent.ask({ question: 'Which port?' })
  expect((await reeve.run(['ps'])).stdout).toContain('waiting (question)')
  expect((await reeve.run(['show', asked.record.pid])).stdout).toContain(
    `reeve reply ${asked.approval} <text>`,
  )
  expect((await reeve.run(['inbox'])).stdout).toBe('2 approvals wait for you: reeve approvals\n')
  // Another person's question is not in this queue.
  await agent.ask({ question: 'And you?', person: `not-${userName()}` })
  expect((await reeve.run(['inbox'])).stdout).toBe('2 approvals wait for you: reeve approvals\n')
})

test('approvals --follow prints what is asked, and how it is settled elsewhere', async () => {
  const reeve = new CommandLine()
  const { host, spawn } = await asking(reeve)
  const first = await spawn('one')
  const follower = reeve.start(['approvals', '--follow'])
  await follower.printed(`reeve approve ${first.id}, or reeve deny ${first.id} [advice]`)
  const second = await spawn('two')
  await follower.printed(second.id)
  await host.deny({ id: second.id, advice: 'One is enough.' })
  await follower.printed(`denied by human:${userName()}: One is enough.`)
  await host.approve({ id: first.id })
  await follower.printed(`${first.id}  approved by human:${userName()}`)
  const third = await spawn('three')
  await follower.printed(third.id)
  await host.kill({ pid: third.pid })
  await follower.printed(`${third.id}  withdrawn`)
  follower.child.kill()
  const { stdout } = await follower.ended
  expect(stdout).toContain('session:s1: execute shell:touch two (new files are reviewed)')
  expect(stdout).not.toContain('\u0007')
})

test('at a terminal, approvals --follow rings the bell about an approval that stays pending', async () => {
  const reeve = new CommandLine()
  const { spawn } = await asking(reeve)
  const follower = reeve.terminal(['approvals', '-f'], { cols: 120, rows: 20 })
  await follower.until('No approval waits')
  const { id } = await spawn('one')
  await follower.until(id)
  await follower.until('\u0007')
})

test('what is most urgent is listed first, before everything that was asked earlier', async () => {
  const reeve = new CommandLine()
  const { agent, spawn } = await asking(reeve)
  const first = await spawn('one')
  const urgent = await agent.ask({ question: 'Now?', priority: 5 })
  const listed = await reeve.json<{ id: string }[]>('approvals')
  expect(listed.map(({ id }) => id)).toEqual([urgent.approval, first.id])
  const all = await reeve.json<{ id: string }[]>('approvals', '--all')
  expect(all.map(({ id }) => id)).toEqual([first.id, urgent.approval])
  expect((await reeve.run(['down'])).stdout).toContain(` Waiting for your approval: ${first.pid}.`)
})
