import { defineTool } from 'reeve'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { payloads, scriptedAgents } from './scripted-agent.ts'
import { waitingTool } from './waiting-tool.ts'

const double = defineTool({
  name: 'double',
  description: 'Doubles a number.',
  input: z.object({ n: z.number() }),
  run: ({ n }) => 2 * n,
})

test('an agent for one turn ends with the answer to its goal', async () => {
  const { reeve, start } = await scriptedAgents()
  const pid = await start([{ parts: [{ text: 'It is done.' }] }], { goal: 'do it', once: true })
  const ended = await reeve.wait({ pid })
  expect(ended).toMatchObject({
    type: 'ended',
    record: { outcome: { status: 'completed', result: 'It is done.' } },
  })
})

test('an agent is idle after its turn, and answers the next input with the whole session before it', async () => {
  const { reeve, start } = await scriptedAgents()
  const pid = await start(
    {
      replies: [{ when: { input: 'second' }, answer: { parts: [{ text: 'two' }] } }],
      answers: [{ parts: [{ text: 'one' }] }],
    },
    { goal: 'first' },
  )
  expect(await reeve.waitAgent({ pid, turn: 1 })).toMatchObject({
    type: 'turn_ended',
    turn: { reason: 'finished', result: 'one' },
  })
  await reeve.runAgent({ pid, text: 'second' })
  expect(await reeve.waitAgent({ pid, turn: 2 })).toMatchObject({
    type: 'turn_ended',
    turn: { reason: 'finished', result: 'two' },
  })
  expect(await payloads(reeve, pid, 'model_used')).toHaveLength(2)
})

test('a tool call is a process, and its result is in the next prompt', async () => {
  const { reeve, start } = await scriptedAgents({ tools: [double] })
  const pid = await start(
    {
      replies: [{ when: { tool: 'double', result: '42' }, answer: { parts: [{ text: 'It is 42.' }] } }],
      answers: [{ parts: [{ text: 'I ask.' }, { tool: 'double', input: { n: 21 } }] }],
    },
    { goal: 'double 21', once: true },
  )
  expect(await reeve.wait({ pid })).toMatchObject({ record: { outcome: { result: 'It is 42.' } } })
  const { processes } = await reeve.list({ filter: { parent: [pid], status: 'any' } })
  expect(processes).toMatchObject([{ record: { kind: 'tool', spec: { tool: 'double' } } }])
})

test('an input that steers joins at the next model call, and one that is queued begins the next turn', async () => {
  const { tool, called, release } = waitingTool()
  const { reeve, start } = await scriptedAgents({ tools: [tool] })
  const pid = await start(
    {
      replies: [
        { when: { input: 'left' }, answer: { parts: [{ text: 'I go left.' }] } },
        { when: { input: 'later' }, answer: { parts: [{ text: 'And now that.' }] } },
      ],
      answers: [{ parts: [{ tool: 'wait' }] }],
    },
    { goal: 'go' },
  )
  await called
  expect(await reeve.runAgent({ pid, text: 'later', mode: 'queue' })).toMatchObject({
    type: 'admitted',
    place: 1,
  })
  expect(await reeve.runAgent({ pid, text: 'left', mode: 'steer' })).toMatchObject({
    type: 'admitted',
    place: 2,
  })
  release()
  expect(await reeve.waitAgent({ pid, turn: 1 })).toMatchObject({ turn: { result: 'I go left.' } })
  expect(await reeve.waitAgent({ pid, turn: 2 })).toMatchObject({ turn: { result: 'And now that.' } })
})

test('a cancelled turn stops its tool call, and the next turn says that it was interrupted', async () => {
  const { tool, called, stopped } = waitingTool()
  const { reeve, start } = await scriptedAgents({ tools: [tool] })
  const pid = await start([{ parts: [{ tool: 'wait' }] }, { parts: [{ text: 'Fine.' }] }], { goal: 'go' })
  await called
  expect(await reeve.cancelTurn({ pid })).toMatchObject({ type: 'cancelled', turn: 1 })
  await stopped
  await reeve.runAgent({ pid, text: 'something else' })
  expect(await reeve.waitAgent({ pid, turn: 2 })).toMatchObject({
    turn: { reason: 'finished', result: 'Fine.' },
  })
  expect(await payloads(reeve, pid, 'tool_answered')).toMatchObject([{ interrupted: true, isError: true }])
})

test('a turn that is cancelled before any output is rolled back, and its input is returned', async () => {
  const { reeve, start } = await scriptedAgents()
  const pid = await start(
    {
      replies: [{ when: { input: 'again' }, answer: { parts: [{ text: 'Now.' }] } }],
      answers: [{ afterMs: 600_000, parts: [{ text: 'never' }] }],
    },
    { goal: 'go' },
  )
  await expect.poll(async () => (await payloads(reeve, pid, 'model_call_begun')).length).toBe(1)
  expect(await reeve.cancelTurn({ pid })).toMatchObject({ type: 'rolled_back', returned: ['goal'] })
  await reeve.runAgent({ pid, text: 'again' })
  expect(await reeve.waitAgent({ pid, turn: 2 })).toMatchObject({ turn: { result: 'Now.' } })
})

test('a paused turn goes on where it was, after it is resumed', async () => {
  const { tool, called, release } = waitingTool()
  const { reeve, start } = await scriptedAgents({ tools: [tool] })
  const pid = await start([{ parts: [{ tool: 'wait' }] }, { parts: [{ text: 'Done.' }] }], { goal: 'go' })
  await called
  expect(await reeve.pauseAgent({ pid })).toMatchObject({ type: 'paused', turn: 1 })
  release()
  expect(await reeve.waitAgent({ pid })).toMatchObject({ type: 'paused' })
  expect(await reeve.resumeAgent({ pid })).toMatchObject({ type: 'resumed', turn: 1 })
  expect(await reeve.waitAgent({ pid, turn: 1 })).toMatchObject({
    turn: { reason: 'finished', result: 'Done.' },
  })
})

test('a result that does not fit the schema is sent back, and counts once it fits', async () => {
  const { reeve, start } = await scriptedAgents()
  const pid = await start([
    { parts: [{ text: 'forty-two' }] },
    { parts: [{ text: '```json\n{ "n": "42" }\n```' }] },
    { parts: [{ text: '{ "n": 42 }' }] },
  ])
  const schema = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] }
  await reeve.runAgent({ pid, text: 'the number?', schema })
  expect(await reeve.waitAgent({ pid, turn: 1 })).toMatchObject({
    turn: { reason: 'finished', result: { n: 42 } },
  })
  expect(await payloads(reeve, pid, 'system_item')).toMatchObject([{ kind: 'repair' }, { kind: 'repair' }])
})

test('a result that never fits the schema ends the turn with invalid_output', async () => {
  const { reeve, start } = await scriptedAgents()
  const pid = await start({ answers: [{ parts: [{ text: 'no' }] }], atEnd: 'repeat' })
  await reeve.runAgent({ pid, text: 'the number?', schema: { type: 'number' } })
  expect(await reeve.waitAgent({ pid, turn: 1 })).toMatchObject({ turn: { reason: 'invalid_output' } })
})

test('turns repeat until a model says that the goal is reached', async () => {
  const { reeve, start } = await scriptedAgents()
  const pid = await start({
    replies: [
      {
        when: { input: 'Judge whether' },
        answer: { tries: [{ parts: [{ text: 'NO, not yet.' }] }, { parts: [{ text: 'YES, it is.' }] }] },
      },
    ],
    answers: [{ parts: [{ text: 'I tried.' }] }],
    atEnd: 'repeat',
  })
  await reeve.runAgent({ pid, text: 'do it', until: { type: 'model', check: 'it is done' } })
  expect(await reeve.waitAgent({ pid, turn: 2 })).toMatchObject({ turn: { reason: 'finished' } })
  expect(await payloads(reeve, pid, 'turn_ended')).toMatchObject([{ goal: 'go_on' }, { goal: 'holds' }])
})
