import { expect, test } from 'vitest'
import { SessionHistory } from '../../src/agent/session-history.ts'
import type { Question } from '../../src/store/contract.ts'
import { answer, PID, PureAgent, text } from '../core/agent/pure-agent.ts'

const SCHEMA = { type: 'number' }

test('after a restart, a summarised turn has its schema, and its first kept answer its model', async () => {
  const agent = new PureAgent()
  agent.request({ type: 'run', id: 'i', mode: 'run', parts: text('count'), schema: SCHEMA })
  agent.claim()
  answer(agent)
  agent.act({ type: 'add_system_item', turn: 1, kind: 'note', parts: text('go on'), key: 'k' })
  agent.act({ type: 'begin_call', turn: 1, call: 2, model: 'scripted/demo' })
  const items = [{ type: 'tool_call', callId: 'c', tool: 't', parts: text('{}') }] as const
  agent.act({ type: 'record_answer', turn: 1, call: 2, model: 'scripted/demo', items })
  agent.act({ type: 'record_result', turn: 1, call: 2, index: 0, parts: text('ok'), isError: false })
  const keepsFrom = agent.events.find(({ type }) => type === 'tool_called')?.seq ?? null
  agent.act({ type: 'begin_call', turn: 1, call: 3, model: 'scripted/demo', purpose: 'compaction' })
  const segment = { type: 'begin_segment', turn: 1, segment: 1, why: 'compaction', keepsFrom } as const
  expect(agent.act({ ...segment, parts: text('short') })).toBe('done')
  const history = new SessionHistory(storeOf(agent), PID)
  await history.catchUp(agent.row.record)
  expect(await history.schemaOf('i')).toEqual(SCHEMA)
  const { items: prompt } = await history.prompt()
  expect(prompt).toMatchObject([
    { type: 'assistant', by: { provider: 'scripted' } },
    { type: 'tool_results' },
  ])
})

/** As much of a store as a history reads. */
function storeOf({ events }: PureAgent): ConstructorParameters<typeof SessionHistory>[0] {
  const answerTo = (question: Question): unknown => {
    if (question.ask === 'event')
      return events.find((event) => 'replayKey' in event && event.replayKey === question.replayKey) ?? null
    return question.ask === 'events' ? events.filter(({ seq }) => seq > question.after) : null
  }
  const untyped: unknown = {
    ask: async (question: Question) => answerTo(question),
    blobs: { get: async () => null },
  }
  return untyped as ConstructorParameters<typeof SessionHistory>[0]
}
