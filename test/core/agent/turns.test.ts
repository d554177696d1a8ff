import { expect, test } from 'vitest'
import { firstKept } from '../../../src/core/agent/compaction.ts'
import { entriesInView, entriesOfSegment, turnsOf } from '../../../src/core/agent/history.ts'
import { nextStep } from '../../../src/core/agent/next-step.ts'
import { promptOf } from '../../../src/core/agent/prompt.ts'
import { stallOf } from '../../../src/core/agent/stall.ts'
import { phaseOf } from '../../../src/core/agent/state.ts'
import { answer, PureAgent, result, run, text } from './pure-agent.ts'

function running(spec: object = {}): PureAgent {
  const agent = new PureAgent({ goal: 'build', ...spec })
  agent.claim()
  return agent
}

const turnEnds = (agent: PureAgent) =>
  agent.events.filter(({ type }) => type === 'turn_ended').map(({ payload }) => payload)

test('a result is for an open call, and there is one', () => {
  const agent = running()
  answer(agent, ['a', 'b'])
  expect(nextStep(agent.row.record)).toMatchObject({ type: 'run_tools', tools: [{ index: 0 }, { index: 1 }] })
  expect(result(agent, 2)).toBe('conflict')
  // Parallel calls end in any order.
  expect(result(agent, 1)).toBe('done')
  expect(result(agent, 1)).toBe('replayed')
  expect(result(agent, 1, 'another result')).toBe('replay_conflict')
  expect(agent.act({ type: 'begin_call', turn: 1, call: 2, model: 'm' })).toBe('conflict')
  expect(agent.act({ type: 'end_turn', turn: 1, reason: 'finished' })).toBe('conflict')
  expect(result(agent, 0)).toBe('done')
  expect(nextStep(agent.row.record)).toMatchObject({ type: 'call_model', call: 2 })
})

test('model calls are numbered, one is open at a time, and its answer comes once', () => {
  const agent = running()
  const call = { type: 'begin_call', turn: 1, model: 'm' } as const
  const answered = { type: 'record_answer', turn: 1, call: 1, model: 'm', items: [] } as const
  expect(agent.act(answered)).toBe('conflict')
  expect(agent.act({ ...call, call: 2 })).toBe('conflict')
  expect(agent.act({ ...call, call: 1 })).toBe('done')
  expect(agent.act({ ...call, call: 1 })).toBe('replayed')
  expect(agent.act({ ...call, call: 2 })).toBe('conflict')
  expect(agent.act(answered)).toBe('done')
  expect(agent.act(answered)).toBe('replayed')
  // Nothing new was said to the model.
  expect(agent.act({ ...call, call: 2 })).toBe('conflict')
  expect(agent.act({ ...call, call: 2, continues: true })).toBe('done')
})

test('duplicate ids and too many calls of an answer are refused whole', () => {
  const agent = running()
  agent.act({ type: 'begin_call', turn: 1, call: 1, model: 'm' })
  const call = { type: 'tool_call', tool: 't', parts: [] } as const
  const record = (items: readonly (typeof call & { callId: string })[]) =>
    agent.act({ type: 'record_answer', turn: 1, call: 1, model: 'm', items })
  expect(
    record([
      { ...call, callId: 'x' },
      { ...call, callId: 'x' },
    ]),
  ).toBe('invalid_input')
  expect(record([{ ...call, callId: '' }])).toBe('invalid_input')
  expect(record(Array.from({ length: 513 }, (_, n) => ({ ...call, callId: `c${n}` })))).toBe('invalid_input')
  expect(agent.agent.turn?.tools).toEqual([])
})

test('calls beyond the bound of an answer have an error result in the same commit, and only the others are open', () => {
  const agent = running()
  agent.act({ type: 'begin_call', turn: 1, call: 1, model: 'm' })
  const before = agent.events.length
  const items = Array.from({ length: 130 }, (_, n) => ({
    type: 'tool_call' as const,
    tool: 't',
    callId: `c${n}`,
    parts: text('{}'),
  }))
  expect(agent.act({ type: 'record_answer', turn: 1, call: 1, model: 'm', items })).toBe('done')
  expect(agent.agent.turn?.tools).toHaveLength(128)
  const written = agent.events.slice(before)
  expect(written.map(({ type }) => type)).toEqual([
    ...Array.from({ length: 130 }, () => 'tool_called'),
    'tool_answered',
    'tool_answered',
  ])
  expect(written.slice(-2).map(({ payload }) => payload)).toMatchObject([
    { index: 128, callId: 'c128', isError: true, parts: [{ text: expect.stringContaining('at most 128') }] },
    { index: 129, callId: 'c129', isError: true },
  ])
  for (let index = 0; index < 128; index++) expect(result(agent, index)).toBe('done')
  expect(nextStep(agent.row.record)).toMatchObject({ type: 'call_model', call: 2 })
})

test('after a crash the state says how to go on: a call without an answer is cut and repeated', () => {
  const agent = running()
  agent.act({ type: 'begin_call', turn: 1, call: 1, model: 'm' })
  expect(nextStep(agent.row.record, 1)).toBeNull()
  agent.crash()
  expect(agent.claim()).toBe(true)
  expect(nextStep(agent.row.record)).toEqual({ type: 'cut_call', turn: 1, call: 1 })
  expect(agent.act({ type: 'cut_call', turn: 1, call: 1, why: 'holder_lost' })).toBe('done')
  expect(nextStep(agent.row.record)).toMatchObject({ type: 'call_model', call: 2 })
})

test('a turn that always crashes ends after five crashes, and the agent is idle', () => {
  const agent = running()
  for (let crash = 1; crash <= 5; crash++) {
    expect(phaseOf(agent.row.record)).toBe('running')
    agent.crash()
    if (crash < 5) agent.claim()
  }
  expect(turnEnds(agent)).toMatchObject([{ reason: 'crashed' }])
  expect([agent.row.record.status, agent.row.record.wait?.on, agent.row.record.outcome]).toEqual([
    'waiting',
    'input',
    null,
  ])
  expect(agent.request(run('again'))).toMatchObject({ type: 'started' })
})

test('twelve crashes with progress between them end nothing', () => {
  const agent = running()
  for (let crash = 0; crash < 12; crash++) {
    answer(agent, ['a'])
    agent.crash()
    agent.claim()
    expect(result(agent, 0)).toBe('done')
    agent.crash()
    agent.claim()
  }
  expect(phaseOf(agent.row.record)).toBe('running')
  expect(turnEnds(agent)).toEqual([])
})

test('an agent whose holder is lost between turns is idle', () => {
  const agent = running()
  answer(agent)
  agent.act({ type: 'end_turn', turn: 1, reason: 'finished' })
  agent.crash()
  expect([agent.row.holder, agent.row.record.status, agent.row.record.parked]).toEqual([
    null,
    'waiting',
    true,
  ])
})

test('a pause survives the loss of the holder', () => {
  const agent = running()
  answer(agent, ['a'])
  agent.request({ type: 'pause', id: 'p' })
  agent.crash()
  expect(agent.row.record.status).toBe('paused')
  expect(agent.request({ type: 'resume', id: 'r' })).toEqual({ type: 'resumed', turn: 1 })
  expect(agent.claim()).toBe(true)
  expect(nextStep(agent.row.record)).toMatchObject({ type: 'run_tools' })
})

test('an exceeded limit ends the turn; the inputs wait until the allowance is raised', () => {
  const agent = running()
  answer(agent, ['a'])
  agent.request(run('next', 'queue'))
  agent.request({ type: 'exceed_limit', id: 'l', limit: 'cost' })
  expect(turnEnds(agent)).toMatchObject([{ reason: 'limit:cost' }])
  expect(phaseOf(agent.row.record)).toBe('idle')
  expect(agent.agent.inputs).toHaveLength(1)
  expect(agent.request({ type: 'allow', id: 'a', amounts: { cost: 1 } })).toEqual({
    type: 'allowed',
    turn: 2,
  })
  expect(agent.agent.turn?.input).toBe('next')
})

test('an agent and its session cannot raise its allowance, and only a kernel exceeds it', () => {
  const agent = running()
  const allow = { type: 'allow', id: 'a', amounts: { cost: 1 } } as const
  expect(agent.request(allow, `process:${agent.row.record.pid}`)).toBe('denied')
  expect(agent.request(allow, 'session:own')).toBe('denied')
  expect(agent.request({ type: 'exceed_limit', id: 'l', limit: 'cost' }, 'host')).toBe('denied')
})

test('a soft limit pauses once, with an alert', () => {
  const agent = running({ softLimits: { cost: 1 } })
  const usage = { model: 'm', inputTokens: 10, cachedInputTokens: 0, outputTokens: 5, isEstimate: false }
  answer(agent, ['a'])
  const used = (call: number, cost: number | null) =>
    agent.act({ type: 'record_usage', turn: 1, call, ...usage, cost })
  expect(used(1, 0.5)).toBe('done')
  expect(phaseOf(agent.row.record)).toBe('running')
  expect(used(1, 0.5)).toBe('replayed')
  expect(used(2, 0.6)).toBe('done')
  expect(phaseOf(agent.row.record)).toBe('paused')
  agent.request({ type: 'resume', id: 'r' })
  expect(used(3, null)).toBe('done')
  expect(phaseOf(agent.row.record)).toBe('running')
  expect(agent.agent.totals).toEqual({ inputTokens: 30, outputTokens: 15, cost: 1.1, unpriced: 1 })
  expect(agent.events.filter(({ type }) => type === 'agent_alerted')).toHaveLength(1)
})

test('80 % of a soft limit are an alert, once, and pause nothing', () => {
  const agent = running({ softLimits: { tokensIn: 100 } })
  const usage = { model: 'm', cachedInputTokens: 0, outputTokens: 5, isEstimate: false, cost: null }
  answer(agent, ['a'])
  const used = (call: number, inputTokens: number) =>
    agent.act({ type: 'record_usage', turn: 1, call, ...usage, inputTokens })
  const alerts = () =>
    agent.events.flatMap(({ type, payload }) => (type === 'agent_alerted' ? [Object(payload).alert] : []))
  used(1, 79)
  expect(alerts()).toEqual([])
  used(2, 1)
  expect(alerts()).toEqual(['near_limit'])
  used(3, 5)
  expect(alerts()).toEqual(['near_limit'])
  expect(phaseOf(agent.row.record)).toBe('running')
  used(4, 50)
  expect(alerts()).toEqual(['near_limit', 'soft_limit'])
  expect(phaseOf(agent.row.record)).toBe('paused')
})

test('an agent for one turn ends with the result of the turn', () => {
  const done = running({ once: true })
  expect(done.request(run('i', 'queue'))).toBe('invalid_request')
  answer(done)
  done.act({ type: 'end_turn', turn: 1, reason: 'finished', result: { ok: true } })
  expect(done.row.record.outcome).toMatchObject({ status: 'completed', result: { ok: true }, reason: null })
  expect(done.row.holder).toBeNull()
  const said = running({ once: true })
  answer(said)
  const where = { call: 1, as: 'text' } as const
  said.act({ type: 'end_turn', turn: 1, reason: 'finished', result: 'done', answer: where })
  expect(turnEnds(said)).toMatchObject([{ result: null, answer: where }])
  expect(said.row.record.outcome).toMatchObject({ status: 'completed', result: 'done' })
  const failed = running({ once: true })
  failed.act({ type: 'end_turn', turn: 1, reason: 'provider_error' })
  expect(failed.row.record.outcome).toMatchObject({ status: 'failed', reason: 'provider_error' })
  const cancelled = running({ once: true })
  expect(cancelled.request({ type: 'cancel_turn', id: 'c' })).toMatchObject({ type: 'rolled_back' })
  expect(cancelled.request({ type: 'cancel_turn', id: 'c' })).toMatchObject({ type: 'rolled_back' })
  expect(cancelled.row.record.outcome).toMatchObject({ status: 'cancelled', reason: 'rolled_back' })
})

test('a result with a schema counts once it fits, and repairs are limited', () => {
  const agent = new PureAgent()
  agent.request({ type: 'run', id: 'i', mode: 'run', parts: text('x'), schema: { type: 'object' } })
  agent.claim()
  const end = { type: 'end_turn', turn: 1, reason: 'finished', result: {} } as const
  for (let n = 1; n <= 3; n++) {
    answer(agent)
    expect(agent.act(end)).toBe('conflict')
    const repair = { type: 'add_system_item', turn: 1, kind: 'repair', parts: text('no') } as const
    expect(agent.act({ ...repair, key: `${n}` })).toBe('done')
    expect(agent.act({ ...repair, key: `${n}` })).toBe('replayed')
  }
  answer(agent)
  expect(agent.act({ type: 'add_system_item', turn: 1, kind: 'repair', parts: text('no'), key: '4' })).toBe(
    'conflict',
  )
  expect(agent.act({ ...end, fitsSchema: true })).toBe('done')
})

test('a goal loop repeats turns until its check holds', () => {
  const agent = goalLoop(20)
  turn(agent, 1, { holds: false, found: '3 failed' })
  expect(agent.agent.turn).toMatchObject({ number: 2, cause: 'goal' })
  turn(agent, 2, { holds: true, found: '' })
  expect([agent.agent.turn, agent.agent.goal]).toEqual([null, null])
  expect(turnEnds(agent)).toMatchObject([{ goal: 'go_on' }, { goal: 'holds' }])
})

test('a goal loop ends with its budget of turns, when it stalls, and with a cancel', () => {
  const short = goalLoop(2)
  turn(short, 1, { holds: false, found: '3 failed' })
  turn(short, 2, { holds: false, found: '2 failed' })
  expect(turnEnds(short)).toMatchObject([{}, { goal: 'budget_over' }])
  const stalled = goalLoop(20)
  for (const number of [1, 2, 3]) turn(stalled, number, { holds: false, found: 'the same' })
  expect(turnEnds(stalled)).toMatchObject([{}, {}, { goal: 'stalled' }])
  const cancelled = goalLoop(20)
  turn(cancelled, 1, { holds: false, found: '1' })
  cancelled.request({ type: 'cancel_turn', id: 'c' })
  expect([cancelled.agent.turn, cancelled.agent.goal]).toEqual([null, null])
})

test('a stall is an alert and ends nothing; another input starts a new window', () => {
  const agent = running()
  const alerts = () => agent.types.filter((type) => type === 'agent_alerted').length
  const same = (isError: boolean) => {
    answer(agent, ['a'])
    const call = agent.agent.turn?.calls ?? 0
    const pair = { call: 'c', result: 'r' }
    agent.act({ type: 'record_result', turn: 1, call, index: 0, parts: text('r'), isError, pair })
  }
  for (let n = 0; n < 3; n++) same(false)
  expect(alerts()).toBe(0)
  same(false)
  expect(alerts()).toBe(1)
  for (let n = 0; n < 2; n++) same(true)
  agent.request(run('think', 'steer'))
  same(true)
  expect(alerts()).toBe(1)
  for (let n = 0; n < 2; n++) same(true)
  expect(alerts()).toBe(2)
  expect(phaseOf(agent.row.record)).toBe('running')
})

test('six alternations are a stall', () => {
  const pair = (call: string) => ({ call, result: call, isError: false })
  const alternating = ['a', 'b', 'a', 'b', 'a', 'b'].map(pair)
  expect(stallOf(alternating)).toBe('alternation')
  expect(stallOf(alternating.slice(1))).toBeNull()
  expect(stallOf(['a', 'b', 'a', 'b', 'a', 'c'].map(pair))).toBeNull()
})

test('every end of an agent ends its turn first', () => {
  const stopped = running()
  answer(stopped, ['a'])
  stopped.crash()
  const stop = { type: 'stop', how: 'cancel', reason: 'enough', cause: null, replayKey: 's' } as const
  expect(stopped.perform(stop)).toBe('done')
  expect(stopped.types.slice(-4)).toEqual(['stop_requested', 'tool_answered', 'turn_ended', 'ended'])
  const abandoned = running()
  abandoned.perform({ type: 'request_abandon', reason: 'lost' })
  const observed = { holder: abandoned.row.holder, fence: abandoned.row.fence }
  expect(abandoned.perform({ type: 'abandon', observed, evidence: 'requested' })).toBe('done')
  expect(turnEnds(abandoned)).toMatchObject([{ reason: 'crashed' }])
})

test('compaction begins a segment that names its origin; what was before is left out, but the kept entries', () => {
  const agent = running()
  answer(agent)
  agent.act({ type: 'end_turn', turn: 1, reason: 'finished' })
  const { head } = agent.agent
  agent.request({ type: 'compact', id: 'c' })
  expect(nextStep(agent.row.record)).toMatchObject({ type: 'call_model', purpose: 'compaction' })
  agent.act({ type: 'begin_call', turn: 2, call: 1, model: 'm', purpose: 'compaction' })
  const keepsFrom = entriesInView(agent.events).find(({ type }) => type === 'assistant_item')?.seq ?? null
  const segment = { type: 'begin_segment', turn: 2, segment: 2, why: 'compaction', keepsFrom } as const
  expect(agent.act({ ...segment, segment: 3, parts: text('short') })).toBe('conflict')
  expect(agent.act({ ...segment, parts: text('short') })).toBe('done')
  expect(nextStep(agent.row.record)).toMatchObject({ type: 'end_turn' })
  expect(agent.act({ type: 'end_turn', turn: 2, reason: 'finished' })).toBe('done')
  expect(agent.agent.segment.number).toBe(2)
  const entries = entriesInView(agent.events)
  expect(entries.find(({ type }) => type === 'segment_begun')?.payload).toMatchObject({
    origin: { segment: 1, head: head + 1 },
  })
  expect(entriesOfSegment(entries).map(({ type }) => type)).toEqual([
    'segment_begun',
    'assistant_item',
    'turn_ended',
    'turn_begun',
    'turn_ended',
  ])
})

test('a compaction that keeps the whole session replaces its system prompt', () => {
  const agent = running()
  const context = (words: string) => [{ type: 'system', text: words }]
  // The first input is promoted before the system prompt is written.
  const keepsFrom = entriesInView(agent.events).find(({ type }) => type === 'input_promoted')?.seq ?? null
  const begin = { type: 'begin_segment', turn: 1, keepsFrom } as const
  expect(agent.act({ ...begin, segment: 1, why: 'context', parts: context('old') })).toBe('done')
  answer(agent)
  agent.act({ type: 'end_turn', turn: 1, reason: 'finished' })
  agent.request({ type: 'compact', id: 'c' })
  agent.act({ type: 'begin_call', turn: 2, call: 1, model: 'm', purpose: 'compaction' })
  expect(agent.act({ ...begin, turn: 2, segment: 2, why: 'compaction', parts: context('new') })).toBe('done')
  const entries = entriesOfSegment(entriesInView(agent.events))
  const { system, items } = promptOf({ entries, partsAt: () => text('go'), modelOf: () => undefined })
  expect([system, items[0]?.type]).toEqual(['new', 'user'])
  expect(firstKept(entries, () => text('go'))).toBe(keepsFrom)
})

test('the view has the turns of the branch, without those that were rolled back', () => {
  const agent = running()
  answer(agent)
  agent.act({ type: 'end_turn', turn: 1, reason: 'finished' })
  agent.request(run('b'))
  agent.request({ type: 'cancel_turn', id: 'c' })
  agent.request(run('d'))
  answer(agent)
  expect(turnsOf(entriesInView(agent.events)).map(({ number, reason }) => [number, reason])).toEqual([
    [1, 'finished'],
    [3, null],
  ])
})

function goalLoop(maxTurns: number): PureAgent {
  const agent = new PureAgent()
  const until = { type: 'command', run: 'npm test' } as const
  agent.request({ type: 'run', id: 'i', mode: 'run', parts: text('mend it'), until, maxTurns })
  agent.claim()
  return agent
}

function turn(agent: PureAgent, number: number, check: { holds: boolean; found: string }): void {
  answer(agent)
  expect(nextStep(agent.row.record)).toEqual({ type: 'end_turn', turn: number, checksGoal: true })
  expect(agent.act({ type: 'end_turn', turn: number, reason: 'finished', check })).toBe('done')
}

test('an input with a goal that interrupts a paused turn begins its goal loop', () => {
  const agent = running()
  answer(agent, ['a'])
  agent.request({ type: 'pause', id: 'p' })
  const until = { type: 'command', run: 'npm test' } as const
  agent.request({ type: 'run', id: 'i', mode: 'run', parts: text('mend it'), until, maxTurns: 2 })
  expect(agent.agent.goal).toMatchObject({ input: 'i', until, maxTurns: 2 })
  expect(agent.agent.turn).toMatchObject({ number: 2, input: 'i' })
})

test('a turn that was summarised is not rolled back: the record stays with its segment', () => {
  const agent = running()
  agent.act({ type: 'begin_call', turn: 1, call: 1, model: 'm' })
  agent.act({ type: 'cut_call', turn: 1, call: 1, why: 'overflow' })
  agent.act({ type: 'begin_call', turn: 1, call: 2, model: 'm', purpose: 'compaction' })
  const segment = { type: 'begin_segment', turn: 1, segment: 1, why: 'compaction', keepsFrom: null } as const
  expect(agent.act({ ...segment, parts: text('short') })).toBe('done')
  expect(agent.request({ type: 'cancel_turn', id: 'c' })).toMatchObject({ type: 'cancelled' })
  const begun = entriesInView(agent.events).findLast(({ type }) => type === 'segment_begun')
  expect(begun?.seq).toBe(agent.agent.segment.from)
})

test('a cut answer and the note that continues it are one commit', () => {
  const agent = running()
  agent.act({ type: 'begin_call', turn: 1, call: 1, model: 'm' })
  const items = [{ type: 'item', parts: text('half a') }] as const
  agent.act({ type: 'record_answer', turn: 1, call: 1, model: 'm', items, note: 'Continue.' })
  agent.crash()
  agent.claim()
  expect(nextStep(agent.row.record)).toMatchObject({ type: 'call_model', call: 2 })
})
