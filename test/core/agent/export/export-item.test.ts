import { describe, expect, test } from 'vitest'
import { isEntry } from '../../../../src/core/agent/event.ts'
import { type HeldTurn, stepForward } from '../../../../src/core/agent/export/branch.ts'
import { exportItem } from '../../../../src/core/agent/export/export-item.ts'
import { uiChunks } from '../../../../src/core/agent/export/ui-messages.ts'
import { entriesInView } from '../../../../src/core/agent/history.ts'
import { type LoggedEvent, type LogItem, loggedEvent, logItem } from '../../../../src/core/agent/log-view.ts'
import type { Part } from '../../../../src/core/agent/state.ts'
import { PureAgent, run, text } from '../pure-agent.ts'

const model = 'scripted/demo'

/** A turn with thinking, a tool call and an answer, between two turns that are rolled back. */
function session(): PureAgent {
  const agent = new PureAgent()
  agent.request(run('never mind'))
  agent.claim()
  agent.request({ type: 'cancel_turn', id: 'c1' })
  agent.request(run('fix', 'run', 'Fix the ``` test'))
  agent.claim()
  agent.act({ type: 'begin_call', turn: 2, call: 1, model })
  agent.act({ type: 'begin_output', turn: 2, call: 1, from: 0 })
  const call: Part = { type: 'tool_call', callId: 'a', tool: 'read_file', input: { path: 'a.ts' } }
  agent.act({
    type: 'record_answer',
    turn: 2,
    call: 1,
    model,
    items: [
      { type: 'item', parts: [{ type: 'reasoning', text: 'Let me\nsee.' }, ...text('I look.')] },
      { type: 'tool_call', callId: 'a', tool: 'read_file', parts: [call] },
    ],
  })
  const result = { turn: 2, call: 1, index: 0, isError: false, parts: text('```ts\ncode\n```') }
  agent.act({ type: 'record_result', ...result })
  agent.act({ type: 'begin_call', turn: 2, call: 2, model })
  agent.act({
    type: 'record_answer',
    turn: 2,
    call: 2,
    model,
    items: [{ type: 'item', parts: text('Done.') }],
  })
  agent.act({ type: 'end_turn', turn: 2, reason: 'finished' })
  agent.request(run('not this either'))
  agent.claim()
  agent.request({ type: 'cancel_turn', id: 'c2' })
  return agent
}

function branchOf(agent: PureAgent): LogItem[] {
  let held: HeldTurn = []
  const released: LoggedEvent[] = []
  for (const event of agent.events) {
    const logged = loggedEvent(event)
    if (logged === null) continue
    const step = stepForward(held, logged)
    held = step.held
    released.push(...step.released)
  }
  return released.map((event) => logItem(event, event.type === 'input_promoted' ? text('Fix the test') : []))
}

test('the branch is that of the view', () => {
  const agent = session()
  const entries = branchOf(agent).filter(({ type }) => isEntry(type))
  expect(entries.map(({ seq }) => seq)).toEqual(entriesInView(agent.events).map(({ seq }) => seq))
})

describe('formats', () => {
  const all = (format: Parameters<typeof exportItem>[0]) =>
    branchOf(session())
      .map((item) => exportItem(format, item))
      .join('')

  test('jsonl has one item in each line', () => {
    const lines = all('jsonl').trimEnd().split('\n')
    const types = lines.map((line) => (JSON.parse(line) as LogItem).type)
    expect(types).toEqual([
      'turn_begun',
      'input_promoted',
      'model_call_begun',
      'assistant_item',
      'tool_called',
      'tool_answered',
      'model_call_begun',
      'assistant_item',
      'turn_ended',
    ])
  })

  test('markdown reads like a conversation, and no content ends a fence', () => {
    expect(all('markdown')).toBe(
      [
        '## Turn 2',
        '**Input**',
        'Fix the test',
        '> Let me\n> see.',
        'I look.',
        '**Tool call** `read_file`',
        '```json\n{\n  "path": "a.ts"\n}\n```',
        '**Tool result**',
        '````\n```ts\ncode\n```\n````',
        'Done.',
        '*Turn 2 ended: finished.*',
        '',
      ].join('\n\n'),
    )
  })

  test('ui-messages is a stream of the AI SDK: a message for a turn, a step for a model call', () => {
    const chunks = branchOf(session()).flatMap(uiChunks)
    expect(chunks.map(({ type }) => type)).toEqual([
      'start',
      'data-input',
      'start-step',
      'reasoning-start',
      'reasoning-delta',
      'reasoning-end',
      'text-start',
      'text-delta',
      'text-end',
      'tool-input-available',
      'tool-output-available',
      'finish-step',
      'start-step',
      'text-start',
      'text-delta',
      'text-end',
      'finish-step',
      'finish',
    ])
    expect(chunks).toContainEqual({
      type: 'tool-input-available',
      toolCallId: 'a',
      toolName: 'read_file',
      input: { path: 'a.ts' },
      dynamic: true,
    })
    expect(all('ui-messages')).toContain('data: {"type":"finish","finishReason":"stop"}\n\n')
  })
})
