import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Embedded, embed } from 'reeve'
import { expect, onTestFinished, test } from 'vitest'
import { TempReeve } from '../temp-reeve.ts'
import { TEST_PRESET } from '../test-preset.ts'
import { payloads } from './scripted-agent.ts'

/** An agent that plays this script, and may run commands. */
async function started(
  answers: readonly unknown[],
  more: object = { goal: 'go' },
): Promise<{ reeve: Embedded; pid: string }> {
  const temp = new TempReeve()
  const workspace = join(temp.folder, 'work')
  mkdirSync(workspace)
  writeFileSync(join(workspace, 'script.json'), JSON.stringify({ answers }))
  const reeve = await embed({
    store: temp.store,
    ...TEST_PRESET,
    commands: { home: temp.keeperHome.folder, environment: 'inherit', shell: '/bin/sh' },
  })
  onTestFinished(() => reeve.close())
  const spec = { agent: 'helper', model: 'scripted/script.json', ...more }
  const { record } = await reeve.spawn({ kind: 'agent', cwd: workspace, spec })
  return { reeve, pid: record.pid }
}

const background = (command: string) => ({
  parts: [{ tool: 'run_command', input: { command, background: true, stdin: true } }],
})

async function commandOf(reeve: Embedded): Promise<string> {
  const { processes } = await reeve.list({ filter: { kind: ['command'], status: 'any' } })
  return processes[0]?.record.pid ?? ''
}

test('the end of a background command begins a turn of its idle agent, which reads how it ended', async () => {
  const { reeve, pid } = await started([
    background('read line; exit 3'),
    { parts: [{ text: 'It runs.' }] },
    { parts: [{ text: 'I have heard.' }] },
  ])
  await reeve.waitAgent({ pid, turn: 1 })
  const command = await commandOf(reeve)
  await reeve.write({ pid: command, text: 'go on\n' })
  const waited = await reeve.waitAgent({ pid, turn: 2 })
  expect(waited).toMatchObject({ type: 'turn_ended', turn: { reason: 'finished', result: 'I have heard.' } })
  const [begun] = (await payloads(reeve, pid, 'turn_begun')).slice(-1)
  expect(begun).toMatchObject({ turn: 2, cause: 'child' })
  const [notice] = await payloads(reeve, pid, 'notice_buffered')
  expect(JSON.stringify(notice?.['parts'])).toMatch(new RegExp(`${command}.*exit code 3`))
})

test('the end of a command that a call waits for, and of one that the agent stops itself, begins no turn', async () => {
  const { reeve, pid } = await started([
    { parts: [{ tool: 'run_command', input: { command: 'exit 4' } }] },
    background('read line'),
    { parts: [{ text: 'It runs.' }] },
    { parts: [{ text: 'Heard.' }] },
  ])
  await reeve.waitAgent({ pid, turn: 1 })
  const { processes } = await reeve.list({ filter: { kind: ['command'] } })
  const running = processes[0]?.record.pid ?? ''
  await reeve.as(`session:agent:${pid}`).kill({ pid: running, reason: 'enough' })
  await reeve.wait({ pid: running })
  expect(await payloads(reeve, pid, 'notice_buffered')).toEqual([])
})

test.each(['cancelTurn', 'shutDownAgent'] as const)(
  'a command that still waits for an approval is withdrawn by %s with its call, and the result says that it never began',
  async (verb) => {
    const { reeve, pid } = await started(
      [{ parts: [{ tool: 'run_command', input: { command: 'echo hi' } }] }],
      {},
    )
    await reeve.addRule({ rule: { effect: 'ask', resource: 'shell:*' } })
    await reeve.runAgent({ pid, text: 'go' })
    const pending = async () => (await reeve.approvals({ state: 'pending' })).approvals
    await expect.poll(async () => (await pending()).length, { timeout: 20_000 }).toBe(1)
    await reeve[verb]({ pid })
    expect(await pending()).toEqual([])
    expect(await payloads(reeve, pid, 'tool_answered')).toMatchObject([
      {
        isError: true,
        interrupted: true,
        parts: [{ text: 'Withdrawn while it waited for an approval; it never began.' }],
      },
    ])
    const { processes } = await reeve.list({ filter: { kind: ['command'], status: 'any' } })
    expect(processes).toMatchObject([{ record: { status: 'cancelled', outcome: { startedAt: null } } }])
  },
)
