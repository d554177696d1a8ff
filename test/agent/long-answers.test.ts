import { expect, test } from 'vitest'
import { payloads, scriptedAgents } from './scripted-agent.ts'

const LONG = 'x'.repeat(20_000)

test('the result of a turn is its answer, also of one that is stored as a blob', async () => {
  const { reeve, start } = await scriptedAgents()
  const pid = await start([{ parts: [{ text: LONG }] }], { goal: 'go', once: true })
  const waited = await reeve.wait({ pid })
  expect(waited).toMatchObject({
    record: { outcome: { result: expect.stringContaining('4000 more characters are in the log') } },
  })
})

test('a long answer that fits its schema is the result', async () => {
  const { reeve, start } = await scriptedAgents()
  const value = { list: [LONG] }
  const pid = await start([{ parts: [{ text: JSON.stringify(value) }] }])
  await reeve.runAgent({ pid, text: 'list', schema: { type: 'object' } })
  expect(await reeve.waitAgent({ pid, turn: 1 })).toMatchObject({
    turn: { reason: 'finished', result: value },
  })
})

test('the end of a turn refers to the answer, and does not repeat it', async () => {
  const { reeve, start } = await scriptedAgents()
  const parts = Array.from({ length: 250 }, (_, index) => ({ text: `line ${index}` }))
  const pid = await start([{ parts }], { goal: 'go' })
  const lines = parts.map(({ text }) => text).join('\n')
  expect(await reeve.waitAgent({ pid, turn: 1 })).toMatchObject({
    turn: { reason: 'finished', result: lines },
  })
  expect(await reeve.inspectAgent({ pid })).toMatchObject({ lastTurn: { result: lines } })
  expect(await payloads(reeve, pid, 'turn_ended')).toEqual([
    { turn: 1, reason: 'finished', calls: 1, result: null, answer: { call: 1, as: 'text' } },
  ])
})

test('each turn of a goal loop ends with a result that fits the schema', async () => {
  const { reeve, start } = await scriptedAgents()
  const judged = (said: string) => ({ parts: [{ text: said }] })
  const pid = await start({
    replies: [
      {
        when: { input: 'Judge whether' },
        answer: { tries: [judged('NO, not yet.'), judged('YES, it is.')] },
      },
    ],
    answers: [judged('1'), judged('words'), judged('2')],
  })
  await reeve.runAgent({
    pid,
    text: 'do it',
    schema: { type: 'number' },
    until: { type: 'model', check: 'it is done' },
  })
  expect(await reeve.waitAgent({ pid, turn: 2 })).toMatchObject({ turn: { reason: 'finished', result: 2 } })
  expect(await reeve.waitAgent({ pid, turn: 1 })).toMatchObject({ turn: { reason: 'finished', result: 1 } })
})

test('the use of a check is recorded beside the calls of its turn', async () => {
  const { reeve, start } = await scriptedAgents()
  const pid = await start({
    replies: [{ when: { input: 'Judge whether' }, answer: { parts: [{ text: 'YES' }] } }],
    answers: [{ parts: [{ text: 'done' }] }],
  })
  await reeve.runAgent({ pid, text: 'do it', until: { type: 'model', check: 'it is done' } })
  await reeve.waitAgent({ pid, turn: 1 })
  expect(await payloads(reeve, pid, 'model_used')).toMatchObject([{ call: 1 }, { call: 0 }])
})
