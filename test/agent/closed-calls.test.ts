import { defineTool } from 'reeve'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { objectOf } from '../../src/core/json/json.ts'
import type { Embedded } from '../../src/embed/embed.ts'
import { payloads, scriptedAgents } from './scripted-agent.ts'

/** Ten results of about 4,000 tokens: more than a compaction keeps. */
const CALLS = 10
const page = defineTool({
  name: 'page',
  description: 'Returns a page.',
  input: z.object({ number: z.number() }),
  run: ({ number }) => `page ${number} ${'word '.repeat(2_300)}`,
})

const call = (number: number) => ({ parts: [{ tool: 'page', input: { number } }] })
const script = {
  replies: [
    { when: { input: 'Summarise this session' }, answer: { parts: [{ text: 'Pages were read.' }] } },
    { when: { input: 'go on' }, answer: { parts: [{ text: 'on' }] } },
  ],
  answers: [...Array.from({ length: CALLS }, (_, index) => call(index + 1)), { parts: [{ text: 'read' }] }],
}

/** How many of the calls, one for each model call, the last segment does not have. */
async function leftOut(reeve: Embedded, pid: string): Promise<number> {
  const begun = (await payloads(reeve, pid, 'segment_begun')).at(-1)
  const left = Number(objectOf(begun?.['keeps'])['call']) - 1
  expect([left > 0, left < CALLS]).toEqual([true, true])
  return left
}

test('tool calls that a compaction leaves out are pruned while the agent lives, and stay in its log', async () => {
  const retention = { toolCallMaxAgeMs: 0 }
  const { reeve, start } = await scriptedAgents({ tools: [page], retention })
  const pid = await start(script, { goal: 'read', tools: ['page'] })
  expect(await reeve.waitAgent({ pid, turn: 1 })).toMatchObject({ turn: { reason: 'finished' } })
  const calls = async () => {
    const { processes } = await reeve.list({ filter: { parent: [pid], kind: ['tool'], status: 'any' } })
    return processes.map(({ record }) => record.pid)
  }
  const before = await calls()
  expect(before).toHaveLength(CALLS)
  await reeve.compactAgent({ pid })
  expect(await reeve.waitAgent({ pid, turn: 2 })).toMatchObject({ turn: { reason: 'finished' } })
  const left = await leftOut(reeve, pid)
  await expect.poll(calls, { timeout: 20_000 }).toEqual(before.slice(left))
  expect(await payloads(reeve, pid, 'tool_answered')).toMatchObject(
    before.map((_, index) => ({ parts: [{ text: expect.stringContaining(`page ${index + 1} word`) }] })),
  )
  await reeve.runAgent({ pid, text: 'go on' })
  expect(await reeve.waitAgent({ pid, turn: 3 })).toMatchObject({
    turn: { reason: 'finished', result: 'on' },
  })
})

test('without a limit for tool calls a compaction prunes nothing', async () => {
  const { reeve, start } = await scriptedAgents({ tools: [page], retention: {} })
  const pid = await start(script, { goal: 'read', tools: ['page'] })
  await reeve.waitAgent({ pid, turn: 1 })
  await reeve.compactAgent({ pid })
  await reeve.waitAgent({ pid, turn: 2 })
  // On request they may go: the log has them.
  const { pruned, kept } = await reeve.prune({ keep: 0 })
  const left = await leftOut(reeve, pid)
  expect(pruned).toHaveLength(left)
  expect(kept.map(({ reason }) => reason)).toEqual(Array(CALLS - left).fill('live_parent'))
})
