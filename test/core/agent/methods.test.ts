import { describe, expect, test } from 'vitest'
import { entriesInView } from '../../../src/core/agent/history.ts'
import { nextStep } from '../../../src/core/agent/next-step.ts'
import type { AgentRequest } from '../../../src/core/agent/request.ts'
import { phaseOf } from '../../../src/core/agent/state.ts'
import { answer, PureAgent, result, run, text } from './pure-agent.ts'

const idle = () => new PureAgent()
/** In its first turn, with output and an open tool call. */
const running = () => {
  const agent = new PureAgent({ goal: 'build' })
  agent.claim()
  answer(agent, ['bash'])
  return agent
}
const paused = () => {
  const agent = running()
  agent.request({ type: 'pause', id: 'first pause' })
  return agent
}
const states = { idle, running, paused }

const cell = (type: string, more: object = {}) => ({ type, ...more })
const OPEN = [{ turn: 1, call: 1, index: 0 }]
const STOPPED = { returned: [], queued: [], dropped: [], next: null }

/** Every cell of the table: a request, and its answer in each state. A text is the code of a refusal. */
const table: readonly (readonly [string, AgentRequest, Record<keyof typeof states, object | string>])[] = [
  [
    'run',
    run('i'),
    {
      idle: cell('started', { input: 'i', turn: 1, interrupts: [] }),
      running: 'already_running',
      paused: cell('started', { input: 'i', turn: 2, interrupts: OPEN }),
    },
  ],
  [
    'run, queued',
    run('i', 'queue'),
    {
      idle: cell('started', { input: 'i', turn: 1, interrupts: [] }),
      running: cell('admitted', { input: 'i', mode: 'queue', place: 1 }),
      paused: cell('admitted', { input: 'i', mode: 'queue', place: 1 }),
    },
  ],
  [
    'run, steering',
    run('i', 'steer'),
    {
      idle: cell('started', { input: 'i', turn: 1, interrupts: [] }),
      running: cell('admitted', { input: 'i', mode: 'steer', place: 1 }),
      paused: cell('admitted', { input: 'i', mode: 'steer', place: 1 }),
    },
  ],
  [
    'resume',
    { type: 'resume', id: 'r' },
    { idle: 'not_paused', running: 'already_running', paused: cell('resumed', { turn: 1 }) },
  ],
  [
    'cancel_turn',
    { type: 'cancel_turn', id: 'r' },
    {
      idle: 'not_running',
      running: cell('cancelled', { turn: 1, ...STOPPED, interrupts: OPEN }),
      paused: 'not_running',
    },
  ],
  [
    'pause',
    { type: 'pause', id: 'r' },
    { idle: 'not_running', running: cell('paused', { turn: 1 }), paused: cell('already_paused') },
  ],
  [
    'notify',
    { type: 'notify', id: 'n', cause: 'notify', parts: text('look') },
    {
      idle: cell('buffered', { notice: 'n', turn: 1, isCounted: false }),
      running: cell('buffered', { notice: 'n', turn: null, isCounted: false }),
      paused: cell('buffered', { notice: 'n', turn: null, isCounted: false }),
    },
  ],
  [
    'compact',
    { type: 'compact', id: 'r' },
    { idle: cell('compacting', { turn: 1 }), running: 'already_running', paused: 'invalid_request' },
  ],
  [
    'rewind',
    { type: 'rewind', id: 'r', to: { turn: 1 } },
    { idle: 'not_found', running: 'already_running', paused: 'invalid_request' },
  ],
  [
    'shutdown',
    { type: 'shutdown', id: 'r' },
    {
      idle: cell('exited', { interrupts: [] }),
      running: cell('stopping', { interrupts: OPEN }),
      paused: cell('stopping', { interrupts: OPEN }),
    },
  ],
  [
    'edit_input of no input',
    { type: 'edit_input', id: 'r', input: 'x', parts: text('x') },
    { idle: 'not_found', running: 'not_found', paused: 'not_found' },
  ],
  [
    'remove_input of no input',
    { type: 'remove_input', id: 'r', input: 'x' },
    { idle: 'not_found', running: 'not_found', paused: 'not_found' },
  ],
  [
    'reorder_inputs of no input',
    { type: 'reorder_inputs', id: 'r', inputs: ['x'] },
    { idle: 'invalid_request', running: 'invalid_request', paused: 'invalid_request' },
  ],
  [
    'configure',
    { type: 'configure', id: 'r', model: 'other/model' },
    {
      idle: cell('configured', { model: 'other/model' }),
      running: cell('configured', { model: 'other/model' }),
      paused: cell('configured', { model: 'other/model' }),
    },
  ],
  [
    'allow',
    { type: 'allow', id: 'r', amounts: { cost: 1 } },
    {
      idle: cell('allowed', { turn: null }),
      running: cell('allowed', { turn: null }),
      paused: cell('allowed', { turn: null }),
    },
  ],
  [
    'exceed_limit',
    { type: 'exceed_limit', id: 'r', limit: 'cost' },
    { idle: 'kept', running: cell('limited', { turn: 1 }), paused: cell('limited', { turn: 1 }) },
  ],
]

describe('each method has its own answer in each state, and a repeated request gets the same one', () => {
  for (const [name, request, expected] of table) {
    for (const [state, answerThere] of Object.entries(expected)) {
      test(`${name}, ${state}`, () => {
        const agent = states[state as keyof typeof states]()
        expect(phaseOf(agent.row.record)).toBe(state)
        const before = agent.row
        expect(agent.request(request)).toEqual(answerThere)
        if (typeof answerThere === 'string') {
          expect(agent.row).toBe(before)
          return
        }
        const after = agent.row
        expect(agent.request(request)).toEqual(answerThere)
        expect(agent.row).toBe(after)
      })
    }
  }
})

test('an input with the same id and other parts is refused, one with the same parts gets the same receipt', () => {
  const agent = running()
  const first = agent.request(run('i', 'queue', 'one'))
  expect(agent.request(run('i', 'queue', 'one'))).toEqual(first)
  expect(agent.request(run('i', 'queue', 'two'))).toBe('input_conflict')
  expect(agent.agent.inputs.map(({ id }) => id)).toEqual(['i'])
})

test('an idle agent waits for input, parked and without a holder', () => {
  const { row } = idle()
  expect([row.holder, row.record.status, row.record.wait?.on, row.record.parked]).toEqual([
    null,
    'waiting',
    'input',
    true,
  ])
  const agent = running()
  result(agent, 0)
  answer(agent)
  expect(agent.act({ type: 'end_turn', turn: 1, reason: 'finished', result: 'done' })).toBe('done')
  expect(agent.act({ type: 'go_idle' })).toBe('done')
  expect([agent.row.holder, agent.row.record.status, agent.row.record.parked]).toEqual([
    null,
    'waiting',
    true,
  ])
  expect(agent.row.record.attempts).toBe(0)
})

test('an actor other than the executor cannot append to an idle agent', () => {
  const agent = new PureAgent()
  const forged = { type: 'append', payload: {}, replayKey: null, fence: null } as const
  expect(agent.perform({ ...forged, event: 'turn_ended' }, 'session:own')).toBe('not_holding')
  expect(agent.perform({ ...forged, event: 'note' }, 'session:own')).toBe('not_holding')
})

test('a cancel before any output rolls the turn back: the view has nothing of it, and the input is returned', () => {
  const agent = idle()
  agent.request(run('a'))
  agent.claim()
  agent.act({ type: 'begin_call', turn: 1, call: 1, model: 'm' })
  expect(agent.request({ type: 'cancel_turn', id: 'c' })).toMatchObject({
    type: 'rolled_back',
    returned: ['a'],
  })
  expect(entriesInView(agent.events)).toEqual([])
  expect(agent.agent.head).toBe(0)
  // The executor was slower than the cancel.
  expect(agent.act({ type: 'begin_output', turn: 1, call: 1 })).toBe('turn_ended')
})

test('a pause before any output rolls the turn back, and inputs that wait stay', () => {
  const agent = idle()
  agent.request(run('a'))
  agent.request(run('b', 'queue'))
  expect(agent.request({ type: 'pause', id: 'p' })).toMatchObject({
    type: 'rolled_back',
    returned: ['a'],
    queued: ['b'],
    next: null,
  })
  expect(phaseOf(agent.row.record)).toBe('idle')
  // In the order of their arrival.
  expect(agent.request(run('c', 'queue'))).toMatchObject({ type: 'admitted', place: 2 })
  expect(agent.agent.turn?.input).toBe('b')
})

test('a cancelled turn makes place for the next input; cancelled with its queue, the agent is idle', () => {
  const agent = running()
  agent.request(run('a', 'queue'))
  expect(agent.request({ type: 'cancel_turn', id: 'c1' })).toMatchObject({ type: 'cancelled', next: 2 })
  agent.request(run('b', 'queue'))
  expect(agent.request({ type: 'cancel_turn', id: 'c2', dropQueued: true })).toMatchObject({
    type: 'rolled_back',
    dropped: ['b'],
    next: null,
  })
  expect(phaseOf(agent.row.record)).toBe('idle')
})

test('a cancelled turn answers its tool calls, so that the next prompt is valid', () => {
  const agent = running()
  agent.request({ type: 'cancel_turn', id: 'c' })
  expect(agent.events.filter(({ type }) => type === 'tool_answered')).toMatchObject([
    { payload: { turn: 1, call: 1, index: 0, isError: true, interrupted: true } },
  ])
  const late = {
    type: 'record_result',
    turn: 1,
    call: 1,
    index: 0,
    parts: text('ok'),
    isError: false,
  } as const
  expect(agent.act(late)).toBe('turn_ended')
})

test('an input to a paused agent closes its tool calls, and tells the model that it was interrupted', () => {
  const agent = paused()
  agent.request(run('i'))
  const begun = agent.types.lastIndexOf('turn_begun')
  expect(agent.types.slice(begun)).toEqual(['turn_begun', 'input_promoted', 'system_item'])
  expect(agent.events.filter(({ type }) => type === 'turn_ended')).toMatchObject([
    { payload: { turn: 1, reason: 'paused' } },
  ])
  expect(nextStep(agent.row.record)).toMatchObject({ type: 'call_model', turn: 2, interruptFirst: OPEN })
})

test('a steering input joins at the next model call, a queued one waits for the end of the turn', () => {
  const agent = running()
  agent.request(run('later', 'queue'))
  agent.request(run('now', 'steer'))
  expect(agent.act({ type: 'begin_call', turn: 1, call: 2, model: 'm' })).toBe('conflict')
  result(agent, 0)
  answer(agent)
  expect(agent.agent.inputs.map(({ id }) => id)).toEqual(['later'])
  expect(agent.act({ type: 'end_turn', turn: 1, reason: 'finished' })).toBe('done')
  expect(agent.agent.turn).toMatchObject({ number: 2, input: 'later' })
})

test('a turn does not finish before an input that steers has joined it', () => {
  const agent = running()
  result(agent, 0)
  answer(agent)
  agent.request(run('now', 'steer'))
  expect(nextStep(agent.row.record)).toMatchObject({ type: 'call_model', call: 3 })
  expect(agent.act({ type: 'end_turn', turn: 1, reason: 'finished' })).toBe('conflict')
})

test('waiting inputs are edited, removed and reordered until a turn takes them', () => {
  const agent = running()
  for (const id of ['a', 'b', 'c']) agent.request(run(id, 'queue'))
  agent.request({ type: 'reorder_inputs', id: 'r1', inputs: ['c', 'a', 'b'] })
  agent.request({ type: 'remove_input', id: 'r2', input: 'a' })
  agent.request({ type: 'edit_input', id: 'r3', input: 'c', parts: text('changed') })
  const edited = agent.events.findLast(({ type }) => type === 'input_edited')?.seq
  agent.request({ type: 'cancel_turn', id: 'x' })
  expect(agent.events.findLast(({ type }) => type === 'input_promoted')?.payload).toMatchObject({
    input: 'c',
    seq: edited,
  })
  expect(agent.request({ type: 'edit_input', id: 'r4', input: 'c', parts: text('late') })).toBe('not_found')
})

test('at most 64 inputs wait, and notices beyond 256 are counted', () => {
  const agent = running()
  for (let n = 0; n < 64; n++) agent.request(run(`i${n}`, 'queue'))
  expect(agent.request(run('one more', 'queue'))).toBe('limit_exceeded')
  for (let n = 0; n < 257; n++)
    agent.request({ type: 'notify', id: `n${n}`, cause: 'notify', parts: text('x') })
  expect([agent.agent.notices.kept.length, agent.agent.notices.more]).toEqual([256, 1])
})

test('notices of a turn that is rolled back wait again', () => {
  const agent = idle()
  agent.request({ type: 'notify', id: 'n', cause: 'child', parts: text('x') })
  expect(agent.agent.notices.kept).toEqual([])
  agent.request({ type: 'cancel_turn', id: 'c' })
  expect(agent.agent.notices.kept.map(({ id }) => id)).toEqual(['n'])
  expect(phaseOf(agent.row.record)).toBe('idle')
})

test('a request that was decided on an older head is refused', () => {
  const agent = running()
  agent.request({ type: 'cancel_turn', id: 'c' })
  expect(agent.request({ ...run('i'), expectedHead: 1 } as AgentRequest)).toBe('conflict')
  expect(agent.request({ ...run('i'), expectedHead: agent.agent.head } as AgentRequest)).toMatchObject({
    type: 'started',
  })
})

test('invalid inputs are refused before anything of them is stored', () => {
  const agent = idle()
  expect(agent.request({ type: 'run', id: 'i', mode: 'run', parts: [] })).toBe('invalid_request')
  expect(agent.request({ ...run(''), id: '' } as AgentRequest)).toBe('invalid_request')
  expect(agent.request(run('i', 'run', 'x'.repeat(20_000)))).toBe('payload_too_large')
  const until = { type: 'command', run: 'npm test' } as const
  expect(agent.request({ ...run('i', 'queue'), until } as AgentRequest)).toBe('invalid_request')
  expect(agent.agent.inputs).toEqual([])
})
