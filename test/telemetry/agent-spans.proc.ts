import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { connect } from '../../src/client/connect.ts'
import type { UpOptions } from '../../src/daemon/up.ts'
import type { Reeve } from '../../src/verbs/reeve.ts'
import { TempReeve } from '../temp-reeve.ts'
import { TestCollector } from './test-collector.ts'

const told = (collector: TestCollector): UpOptions => ({
  flags: { otelEndpoint: collector.endpoint, otelIntervalMs: '100' },
})

/** Starts an agent in the home folder of this Reeve, which plays these answers. */
async function startAgent(
  { folder }: TempReeve,
  reeve: Reeve,
  answers: readonly object[],
  spec: object = {},
): Promise<string> {
  writeFileSync(join(folder, 'script.json'), JSON.stringify({ answers }))
  const { record } = await reeve.spawn({
    kind: 'agent',
    cwd: folder,
    spec: { agent: 'helper', model: 'scripted/script.json', goal: 'hunter1', ...spec },
  })
  return record.pid
}

const named = (collector: TestCollector, name: string) => collector.spans.filter((span) => span.name === name)

test('a turn, its model calls and its tool calls are spans of one trace, without any content', async () => {
  const collector = await TestCollector.open()
  const temp = new TempReeve()
  const { reeve } = await temp.up(told(collector))
  writeFileSync(join(temp.folder, 'note.txt'), 'hunter2')
  const usage = { inputTokens: 40, outputTokens: 2 }
  const pid = await startAgent(
    temp,
    reeve,
    [
      {
        parts: [{ text: 'hunter3' }, { tool: 'read_file', input: { path: 'note.txt' } }, { tool: 'hunt' }],
        usage,
      },
      { parts: [{ text: 'hunter4' }], usage },
    ],
    { once: true },
  )
  await reeve.wait({ pid })

  const agent = await collector.until(() => named(collector, 'agent helper')[0])
  await collector.nextRound()
  const [turn, ...otherTurns] = named(collector, 'invoke_agent helper')
  expect(otherTurns).toEqual([])
  expect(turn).toMatchObject({ traceId: agent.traceId, parentSpanId: agent.spanId, status: { code: 0 } })
  expect(turn?.attributes).toEqual({
    'gen_ai.operation.name': 'invoke_agent',
    'gen_ai.provider.name': 'scripted',
    'gen_ai.request.model': 'script.json',
    'gen_ai.agent.id': pid,
    'gen_ai.agent.name': 'helper',
    'gen_ai.conversation.id': pid,
    'gen_ai.usage.input_tokens': 80,
    'gen_ai.usage.output_tokens': 4,
    'reeve.pid': pid,
    'reeve.turn': 1,
    'reeve.turn.cause': 'user',
    'reeve.turn.reason': 'finished',
    'reeve.turn.calls': 2,
  })
  const below = { traceId: agent.traceId, parentSpanId: turn?.spanId }
  const calls = named(collector, 'chat script.json')
  expect(calls).toMatchObject([below, below])
  expect(calls.map(({ attributes }) => attributes['reeve.call'])).toEqual([1, 2])
  expect(calls[0]?.attributes).toMatchObject({
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': 'scripted',
    'gen_ai.request.model': 'script.json',
    'gen_ai.conversation.id': pid,
    'gen_ai.usage.input_tokens': 40,
    'gen_ai.usage.output_tokens': 2,
    'reeve.call.purpose': 'answer',
  })
  const { events } = await reeve.events({ pid })
  const at = (type: string) => events.find((event) => event.type === type)?.at
  expect(calls[0]?.startTimeUnixNano).toBe(`${at('model_call_begun')}000000`)
  expect(calls[0]?.endTimeUnixNano).toBe(`${at('assistant_item')}000000`)
  expect(turn?.startTimeUnixNano).toBe(`${at('turn_begun')}000000`)
  expect(turn?.endTimeUnixNano).toBe(`${at('turn_ended')}000000`)

  expect(named(collector, 'execute_tool read_file')).toMatchObject([below])
  expect(named(collector, 'execute_tool read_file')[0]?.attributes).toMatchObject({
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': 'read_file',
    'gen_ai.conversation.id': pid,
    'reeve.kind': 'tool',
    'reeve.turn': 1,
    'reeve.call': 1,
    'reeve.tool.index': 0,
  })
  const unknown = named(collector, 'execute_tool hunt')
  expect(unknown).toMatchObject([{ ...below, status: { code: 2 }, attributes: { 'error.type': 'not_run' } }])
  const ids = collector.spans.map(({ spanId }) => spanId)
  expect(new Set(ids).size).toBe(ids.length)
  expect(collector.requests.map(({ text }) => text).join()).not.toContain('hunter')
})

test('a model call that fails has its error, and so has its turn', async () => {
  const collector = await TestCollector.open()
  const temp = new TempReeve()
  const { reeve } = await temp.up(told(collector))
  const pid = await startAgent(temp, reeve, [{ fail: { status: 400, message: 'hunter5' } }])
  await reeve.waitAgent({ pid, turn: 1 })
  const turn = await collector.until(() => named(collector, 'invoke_agent helper')[0])
  expect(turn).toMatchObject({ status: { code: 2 }, attributes: { 'error.type': 'provider_error' } })
  const call = await collector.until(() => named(collector, 'chat script.json')[0])
  expect(call).toMatchObject({ status: { code: 2 }, parentSpanId: turn.spanId })
  expect(call.attributes).toHaveProperty(['error.type'])
  expect(collector.requests.map(({ text }) => text).join()).not.toContain('hunter')
})

test('a call that a person stops is a span, and no error', async () => {
  const collector = await TestCollector.open()
  const temp = new TempReeve()
  const { reeve } = await temp.up(told(collector))
  const pid = await startAgent(temp, reeve, [{ parts: [{ text: 'on and on' }], afterMs: 3_600_000 }])
  await untilEvent(reeve, pid, 'model_call_begun')
  await reeve.cancelTurn({ pid })
  const turn = await collector.until(() => named(collector, 'invoke_agent helper')[0])
  const call = await collector.until(() => named(collector, 'chat script.json')[0])
  for (const span of [turn, call]) {
    expect(span.status).toEqual({ code: 0 })
    expect(span.attributes).not.toHaveProperty(['error.type'])
  }
  await collector.nextRound()
  expect(named(collector, 'chat script.json')).toHaveLength(1)
})

test('spans that are open when the daemon is killed are complete with the next one, and sent again they are the same', async () => {
  const collector = await TestCollector.open()
  const temp = new TempReeve()
  const env = { REEVE_OTEL_ENDPOINT: collector.endpoint, REEVE_OTEL_INTERVAL_MS: '100' }
  await temp.start(['--listen', '127.0.0.1:0'], env)
  const first = await connect({ home: temp.folder })
  const pid = await startAgent(temp, first, [
    { parts: [{ tool: 'run_command', input: { command: 'until test -e go; do sleep 0.02; done' } }] },
    { parts: [{ text: 'done' }] },
  ])
  await untilEvent(first, pid, 'tool_called')
  await collector.nextRound()
  await first.close()
  await temp.killDaemon()
  const position = join(temp.folder, 'telemetry.json')
  writeFileSync(join(temp.folder, 'go'), '')
  const daemon = await temp.up(told(collector))
  await daemon.reeve.waitAgent({ pid, turn: 1 })
  const turn = await collector.until(() => named(collector, 'invoke_agent helper')[0])
  const { events } = await daemon.reeve.events({ pid })
  const begun = events.find(({ type }) => type === 'turn_begun')
  expect(turn.startTimeUnixNano).toBe(`${begun?.at}000000`)
  await collector.nextRound()
  const before = collector.spans
  expect(named(collector, 'chat script.json')).toHaveLength(2)

  await daemon.close()
  // As if it had died after the collector's answer.
  writeFileSync(position, '{"position":0}\n')
  await temp.up(told(collector))
  await collector.until(() => named(collector, 'invoke_agent helper').length === 2)
  const ids = (spans: typeof before) =>
    new Set(
      spans.filter(({ attributes }) => 'gen_ai.operation.name' in attributes).map(({ spanId }) => spanId),
    )
  expect(ids(collector.spans)).toEqual(ids(before))
})

async function untilEvent(reeve: Reeve, pid: string, type: string): Promise<void> {
  for await (const event of reeve.follow({ after: 0 })) if (event.pid === pid && event.type === type) return
}
