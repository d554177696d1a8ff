import { expect, test } from 'vitest'
import { entriesInView } from '../../../src/core/agent/history.ts'
import {
  agentOfCall,
  callOf,
  isOfEarlierSegment,
  isOutputShownBy,
} from '../../../src/core/agent/segment-calls.ts'
import { NEW_AGENT } from '../../../src/core/agent/state.ts'
import { referencesOf } from '../../../src/core/process/prune.ts'
import { answer, PID, PureAgent, run, text } from './pure-agent.ts'

const after = (turn: number, call: number) => ({
  pid: PID,
  agent: { ...NEW_AGENT, segment: { number: 2, from: 90, keeps: { turn, call } } },
})

test.each([
  [`${PID}.6.9.0`, true],
  [`${PID}.7.2.5`, true],
  [`${PID}.7.3.0`, false],
  [`${PID}.8.1.0`, false],
  [`${PID}.07.2.0`, false],
  [`${PID}.6.2`, false],
  [`${PID}.6.2.0.1`, false],
  ['p_another00000.6.2.0', false],
  ['anything', false],
  [null, false],
])('with a segment from call 3 of turn 7 on, the call %s is closed: %s', (toolCall, isClosed) => {
  expect(isOfEarlierSegment(after(7, 3), { toolCall, target: null })).toBe(isClosed)
})

test('without a compaction no call is closed, and never one with the memory of the agent', () => {
  const toolCall = `${PID}.1.1.0`
  expect(isOfEarlierSegment({ pid: PID, agent: NEW_AGENT }, { toolCall, target: null })).toBe(false)
  expect(isOfEarlierSegment({ pid: PID, agent: null }, { toolCall, target: null })).toBe(false)
  expect(isOfEarlierSegment(after(7, 3), { toolCall, target: 'agent.read_file' })).toBe(true)
  expect(isOfEarlierSegment(after(7, 3), { toolCall, target: 'agent.plan' })).toBe(false)
  expect(agentOfCall(toolCall)).toBe(PID)
})

test('the output of a command is shown while the live segment has its call, or a call that shows it again', () => {
  const live = { ...after(7, 3), outcome: null }
  const command = (toolCall: string) => ({ pid: 'p_command', owner: { toolCall } })
  expect(isOutputShownBy(live, command(`${PID}.7.3.0`))).toBe(true)
  expect(isOutputShownBy(live, command(`${PID}.7.2.0`))).toBe(false)
  const outputs = [{ pid: 'p_command', turn: 7, call: 4 }]
  const again = { ...live, agent: { ...live.agent, outputs } }
  expect(isOutputShownBy(again, command(`${PID}.7.2.0`))).toBe(true)
  expect(isOutputShownBy({ ...live, agent: null }, command(`${PID}.7.3.0`))).toBe(false)
})

test('a segment keeps what its own calls show, and lets go of the rest', () => {
  const agent = new PureAgent()
  agent.request(run('i'))
  agent.claim()
  const shows = (pid: string, isOwn?: true) => {
    answer(agent, ['command_output'])
    const call = agent.agent.turn?.calls ?? 0
    const output = { pid, from: 0, to: 5, ...(isOwn === undefined ? {} : { isOwn }) }
    const ended = { turn: 1, call, index: 0, parts: text('ok'), isError: false }
    expect(agent.act({ type: 'record_result', ...ended, output })).toBe('done')
    return call
  }
  shows('p_own', true)
  shows('p_early')
  const kept = shows('p_late')
  expect(referencesOf(agent.row.record)).toEqual(['p_early', 'p_late'])
  agent.act({ type: 'begin_call', turn: 1, call: kept + 1, model: 'm', purpose: 'compaction' })
  const keeps = { turn: 1, call: kept }
  const segment = { segment: 1, why: 'compaction', keepsFrom: null, keeps, parts: [] } as const
  expect(agent.act({ type: 'begin_segment', turn: 1, ...segment })).toBe('done')
  expect(agent.agent.segment).toMatchObject({ keeps })
  expect(referencesOf(agent.row.record)).toEqual(['p_late'])
  const called = entriesInView(agent.events).findLast(({ type }) => type === 'tool_called')
  expect(callOf(entriesInView(agent.events), called?.seq ?? null)).toEqual(keeps)
  expect(callOf([], null)).toBeNull()
})
