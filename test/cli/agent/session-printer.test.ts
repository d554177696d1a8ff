import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { SessionPrinter } from '../../../src/cli/agent/session-printer.ts'
import type { Surroundings } from '../../../src/cli/context.ts'
import { Printer } from '../../../src/cli/print/printer.ts'
import type { AgentFollowed } from '../../../src/verbs/follow-calls.ts'
import type { OutputOf } from '../../../src/verbs/reeve.ts'

type Item = OutputOf<'agentLog'>['items'][number]
type Fragment = Extract<AgentFollowed, { type: 'fragment' }>

test('text that was streamed is not printed again by its entry', () => {
  const { printer, printed } = setUp()
  printer.show(fragment('text', 'I read '))
  printer.show(fragment('text', 'it.'))
  printer.item(answer('text', 'I read it.'))
  printer.item(answer('text', ' And more.'))
  printer.endLine()
  expect(printed()).toBe('I read it. And more.\n')
})

test('an entry prints what its fragments left out, of text and of thinking', () => {
  const { printer, printed } = setUp()
  printer.show(fragment('thinking', 'The tests sa'))
  printer.item(answer('reasoning', 'The tests say it.'))
  printer.item(answer('text', 'I read it.'))
  printer.endLine()
  expect(printed()).toBe('The tests say it.\nI read it.\n')
})

test('a call that was cut is printed from its beginning again', () => {
  const { printer, printed } = setUp()
  printer.show(fragment('text', 'I re'))
  printer.item(item('model_call_cut', { turn: 1, call: 1, why: 'holder lost' }))
  printer.show(fragment('text', 'I read'))
  printer.endLine()
  expect(printed()).toBe(
    'I re\n(the daemon was restarted in the middle of this answer, and goes on)\nI read\n',
  )
})

test('a tool call shows its main argument, and the first line of its result', () => {
  const { printer, printed } = setUp()
  printer.item(toolCall('a', 'edit_file', { path: 'sum.js', edits: 1 }))
  printer.item(toolResult('a', 'Edited\nline 2', false))
  printer.item(toolCall('b', 'run_command', { command: 'node --test' }))
  printer.item(toolResult('b', 'No such program\n1\n2', true))
  expect(printed()).toBe(
    '→ edit_file sum.js {"edits":1}\n  Edited (+1 line)\n→ run_command node --test\n  ✗ No such program (+2 lines)\n',
  )
})

test('an input shows the names of referenced files, and the beginning of a pasted text', () => {
  const { printer, printed } = setUp()
  const parts = [
    { type: 'text', text: 'Compare these.' },
    { type: 'reference', path: 'a.txt' },
    { type: 'text', text: '1\tone' },
    { type: 'paste', text: 'first\nsecond\nthird' },
  ]
  printer.item(item('input_promoted', { turn: 1, call: 0, input: 'i', seq: 1, parts }))
  expect(printed()).toBe('› Compare these.\n@a.txt\nfirst (+2 lines)\n')
})

test('results of parallel calls say whose they are', () => {
  const { printer, printed } = setUp()
  printer.item(toolCall('a', 'read_file', { path: 'a' }))
  printer.item(toolCall('b', 'read_file', { path: 'b' }))
  printer.item(toolResult('b', 'B', false))
  printer.item(toolResult('a', 'A', false))
  expect(printed()).toBe('→ read_file a\n→ read_file b\n  read_file: B\n  A\n')
})

test('the end of a turn says how it ended and what it used', () => {
  const { printer, printed } = setUp()
  printer.item(used({ inputTokens: 900, outputTokens: 100, cost: 0.25 }))
  printer.item(used({ inputTokens: 200, outputTokens: 300, cost: null }))
  printer.item(item('turn_ended', { turn: 1, reason: 'finished', calls: 2, result: null }))
  printer.item(
    item('turn_ended', { turn: 2, reason: 'setup_failed', calls: 0, result: null, message: 'No key.' }),
  )
  expect(printed()).toBe(
    '(turn 1 finished, 2 model calls, 1.5k tokens, cost $0.25 + 1 unknown)\n(turn 2 setup failed)\nNo key.\n',
  )
})

test('the end of a turn that was rolled back names the inputs that are gone with it', () => {
  const { printer, printed } = setUp()
  printer.item(input('one', 'and then the docs'))
  printer.item(item('turn_ended', { turn: 2, reason: 'rolled_back', calls: 1, result: null }))
  expect(printed()).toBe(
    '› and then the docs\n(turn 2 rolled back, 1 model call)\n! Removed with the turn, before the model read it: "and then the docs". Send it again if it still counts.\n',
  )
})

test('the usage of a turn is left out if its beginning was not seen', () => {
  const { printer, printed } = setUp()
  printer.item(used({ inputTokens: 900, outputTokens: 100, cost: 0 }))
  printer.item(item('turn_ended', { turn: 1, reason: 'finished', calls: 2, result: null }))
  expect(printed()).toBe('(turn 1 finished, 2 model calls)\n')
})

test('the prompt sign is shown once, and what follows begins on a line of its own', () => {
  const { printer, printed } = setUp()
  printer.prompt()
  printer.prompt()
  printer.line('a notice')
  printer.prompt()
  expect(printed()).toBe('› \na notice\n› ')
})

test('an input typed after the prompt sign is not printed again; one that waited is', () => {
  const { printer, printed } = setUp()
  printer.prompt()
  expect(printer.typed()).toBe(true)
  printer.leaveOut('mine')
  printer.item(input('mine', 'go on'))
  expect(printer.typed()).toBe(false)
  printer.item(input('other', 'and then'))
  expect(printed()).toBe('› › and then\n')
})

test('escape sequences of a model reach no terminal', () => {
  const { printer, printed } = setUp()
  printer.show(fragment('text', 'a\u001b[2Jb'))
  printer.item(toolCall('a', 'run_command', { command: '\u001b]0;title\u0007' }))
  expect(printed()).not.toContain('\u001b')
})

function setUp() {
  const stdout = new PassThrough()
  const around = { stdin: stdout, stdout, stderr: stdout, env: {}, cwd: '/' } as unknown as Surroundings
  const print = new Printer(around, { json: false, jsonl: false } as ConstructorParameters<typeof Printer>[1])
  const texts: string[] = []
  return { printer: new SessionPrinter(print, (text) => texts.push(text)), printed: () => texts.join('') }
}

function item<Type extends Item['type']>(
  type: Type,
  payload: Extract<Item, { type: Type }>['payload'],
): Item {
  return { pid: 'p_1', seq: 1, at: 0, actor: 'host', type, payload } as unknown as Item
}

function fragment(stream: Fragment['stream'], text: string): Fragment {
  return { type: 'fragment', turn: 1, call: 1, stream, offset: 0, next: 0, text }
}

test('a late subscriber sees alerts that are older than the items it gets, and each alert once', () => {
  const { printer, printed } = setUp()
  const shown = { ...item('agent_alerted', { turn: 1, alert: 'silent', message: 'Silent.' }), seq: 9 }
  const alerts = [
    { seq: 3, at: 0, alert: 'memory_failed', message: 'Not updated.' },
    { seq: 9, at: 0, alert: 'silent', message: 'Silent.' },
  ]
  const page = { items: [shown], record: { agent: { alerts } } }
  printer.show({ type: 'snapshot', page } as never)
  expect(printed()).toMatch(/^! Not updated\. \(.+ ago\)\n! Silent\.\n$/)
})

function answer(type: 'text' | 'reasoning', text: string): Item {
  return item('assistant_item', { turn: 1, call: 1, model: 'scripted/demo', parts: [{ type, text }] })
}

function input(id: string, text: string): Item {
  return item('input_promoted', { turn: 1, call: 0, input: id, seq: 1, parts: [{ type: 'text', text }] })
}

function toolCall(callId: string, tool: string, given: object): Item {
  const parts = [{ type: 'input', input: given }]
  return item('tool_called', { turn: 1, call: 1, index: 0, callId, tool, parts } as never)
}

function toolResult(callId: string, text: string, isError: boolean): Item {
  const parts = [{ type: 'text', text }]
  return item('tool_answered', { turn: 1, call: 1, index: 0, callId, parts, isError })
}

function used(given: { inputTokens: number; outputTokens: number; cost: number | null }): Item {
  return item('model_used', {
    turn: 1,
    call: 1,
    model: 'scripted/demo',
    cachedInputTokens: 0,
    isEstimate: false,
    ...given,
  })
}
