import { expect, test } from 'vitest'
import type { AgentAct, UpdateStep } from '../../../src/core/agent/act.ts'
import type { ProgramState } from '../../../src/core/agent/outside.ts'
import { PureAgent, run, text } from './pure-agent.ts'

const MODEL = 'acp/scripted'
const PROGRAM: ProgramState = {
  pid: 'p_bzzzzzzzzzzz',
  session: 's1',
  can: [],
  offset: 0,
  told: 0,
  prompt: null,
  permissions: [],
  sent: null,
}
const TOOL = { type: 'tool_call', index: 0, callId: 't1', tool: 'execute', parts: [] } as const
const RESULT = { type: 'result', callId: 't1', parts: text('done'), isError: false } as const

/** In the first call of its first turn. */
function prompted(): PureAgent {
  const agent = new PureAgent({ model: MODEL })
  agent.request(run('i1'))
  agent.claim()
  expect(agent.act({ type: 'begin_call', turn: 1, call: 1, model: MODEL })).toBe('done')
  return agent
}

function updates(
  steps: readonly UpdateStep[],
  key: string,
  more: Partial<Extract<AgentAct, { type: 'record_updates' }>> = {},
): AgentAct {
  return { type: 'record_updates', turn: 1, model: MODEL, steps, program: PROGRAM, key, ...more }
}

test('updates leave the call open until the program has answered', () => {
  const agent = prompted()
  agent.act(updates([{ type: 'item', parts: text('hm') }, TOOL], 'a'))
  expect(agent.agent.turn).toMatchObject({ call: { number: 1 }, tools: [{ callId: 't1' }], hasOutput: true })
  agent.act(updates([RESULT, { type: 'next_call' }], 'b'))
  expect(agent.agent.turn).toMatchObject({ call: { number: 2 }, calls: 2, tools: [] })
  agent.act(updates([{ type: 'item', parts: text('ready') }], 'c', { closes: true }))
  expect(agent.agent.turn).toMatchObject({ call: null, expects: 'end' })
})

test('the same update is recorded once, and a result that came before changes nothing', () => {
  const agent = prompted()
  agent.act(updates([TOOL, RESULT], 'a'))
  const before = agent.events.length
  agent.act(updates([TOOL, RESULT], 'a'))
  expect(agent.events).toHaveLength(before)
  agent.act(updates([RESULT], 'b'))
  expect(agent.types.slice(before)).toEqual(['program_noted'])
})

test('a numbered write has the number of its event', () => {
  const agent = prompted()
  const prompt = { turn: 1, call: 1, seq: 0, after: 0, isFirst: true }
  agent.act(updates([], 'a', { program: { ...PROGRAM, prompt }, numbers: 'prompt' }))
  expect(agent.agent.program?.prompt?.seq).toBe(agent.row.record.revision)
})

test('a turn that is over takes no update, and the conversation with its program is noted all the same', () => {
  const agent = prompted()
  agent.act(updates([TOOL], 'a'))
  agent.request({ type: 'cancel_turn', id: 'c' })
  const before = agent.events.length
  expect(agent.act(updates([RESULT], 'b'))).toBe('turn_ended')
  expect(agent.events).toHaveLength(before)
  expect(agent.act({ type: 'note_program', program: { ...PROGRAM, offset: 9 }, key: 'n' })).toBe('done')
  expect(agent.agent.program?.offset).toBe(9)
})

test('the death of the program ends the turn, and closes its calls', () => {
  const agent = prompted()
  agent.act(updates([TOOL], 'a', { ends: { reason: 'crashed', message: 'gone' } }))
  expect(agent.agent.turn).toBeNull()
  expect(agent.types.slice(-4)).toEqual(['program_noted', 'model_call_cut', 'tool_answered', 'turn_ended'])
})

test('model calls that are cut again and again end the turn; an item between them counts as progress', () => {
  const agent = prompted()
  const cutAndGoOn = (key: string) =>
    agent.act(updates([{ type: 'cut', why: 'holder lost' }, { type: 'next_call' }], key))
  for (let count = 1; count < 20; count++) expect(cutAndGoOn(`cut ${count}`)).toBe('done')
  expect(agent.agent.turn).toMatchObject({ calls: 20, cuts: 19 })
  agent.act(updates([{ type: 'item', parts: text('hm') }], 'progress'))
  for (let count = 1; count <= 20; count++) expect(cutAndGoOn(`again ${count}`)).toBe('done')
  expect(agent.agent.turn).toBeNull()
  expect(agent.events.findLast(({ type }) => type === 'turn_ended')?.payload).toMatchObject({
    reason: 'crashed',
    calls: 39,
    message: '20 model calls in a row were cut without an answer.',
  })
  expect(cutAndGoOn('late')).toBe('turn_ended')
})
