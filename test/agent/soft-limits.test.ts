import { expect, test } from 'vitest'
import type { Embedded } from '../../src/embed/embed.ts'
import { eventTypes, scriptedAgents } from './scripted-agent.ts'

const CALL = { parts: [{ tool: 'list_files', input: { path: '.' } }] }
const SCRIPT = [CALL, { parts: [{ text: 'Done.' }] }, { parts: [{ text: 'More.' }] }]

/** An agent that a soft limit has paused after its first model call, and the question about it. */
async function pausedAgent() {
  const { reeve, start } = await scriptedAgents()
  const pid = await start(SCRIPT, { goal: 'go', softLimits: { tokensIn: 10 } })
  await phase(reeve, pid, 'paused')
  const { approvals } = await reeve.approvals({})
  return { reeve, pid, asked: approvals[0], count: approvals.length }
}

async function phase(reeve: Embedded, pid: string, wanted: string): Promise<void> {
  await expect.poll(async () => (await reeve.inspectAgent({ pid })).phase, { timeout: 30_000 }).toBe(wanted)
}

test('a soft limit pauses the agent and asks a person, in one commit; a yes resumes it', async () => {
  const { reeve, pid, asked, count } = await pausedAgent()
  expect(count).toBe(1)
  expect(asked).toMatchObject({
    request: {
      type: 'question',
      subject: `process:${pid}`,
      text: expect.stringMatching(/^helper has used \d+ of 10 tokensIn \(soft limit\): go on\?$/),
      choices: ['yes', 'no'],
    },
  })
  expect((await reeve.inspectAgent({ pid })).approvals.map(({ id }) => id)).toEqual([asked?.id])
  await reeve.reply({ id: asked?.id ?? '', value: 'yes' })
  expect(await reeve.waitAgent({ pid, turn: 1 })).toMatchObject({
    turn: { reason: 'finished', result: 'Done.' },
  })
  expect((await eventTypes(reeve, pid)).filter((type) => type === 'resumed')).toHaveLength(1)
  // The limit has been asked about, and the answer begins no turn.
  await phase(reeve, pid, 'idle')
  expect((await reeve.inspectAgent({ pid })).turns).toBe(1)
  expect((await reeve.approvals({})).approvals).toEqual([])
})

test('a no, or a denial, leaves the agent paused; it can still be resumed', async () => {
  const { reeve, pid, asked } = await pausedAgent()
  await reeve.reply({ id: asked?.id ?? '', value: 'no' })
  expect((await reeve.inspectAgent({ pid })).phase).toBe('paused')
  await reeve.resumeAgent({ pid })
  expect(await reeve.waitAgent({ pid, turn: 1 })).toMatchObject({ turn: { reason: 'finished' } })
})

test('an agent that is resumed otherwise, given another input, or ended, withdraws its question', async () => {
  const goOn = [
    (reeve: Embedded, pid: string) => reeve.resumeAgent({ pid }),
    (reeve: Embedded, pid: string) => reeve.runAgent({ pid, text: 'something else' }),
    (reeve: Embedded, pid: string) => reeve.shutDownAgent({ pid }),
  ]
  for (const act of goOn) {
    const { reeve, pid, asked } = await pausedAgent()
    await act(reeve, pid)
    await expect
      .poll(async () => (await reeve.approval({ id: asked?.id ?? '' })).approval.state, { timeout: 30_000 })
      .toBe('withdrawn')
  }
})

test('a rule that denies the question leaves the pause and its alert', async () => {
  const { reeve, start } = await scriptedAgents()
  await reeve.addRule({ rule: { effect: 'deny', rights: ['execute'], resource: 'tool:human.ask' } })
  const pid = await start(SCRIPT, { goal: 'go', softLimits: { tokensIn: 10 } })
  await phase(reeve, pid, 'paused')
  expect((await reeve.approvals({})).approvals).toEqual([])
  expect(await eventTypes(reeve, pid)).toContain('agent_alerted')
})
