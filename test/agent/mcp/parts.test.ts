import { expect, test } from 'vitest'
import { LineSplitter } from '../../../src/agent/kept-rpc/line-splitter.ts'
import { rpcMessages } from '../../../src/agent/kept-rpc/rpc-message.ts'
import { callOutput } from '../../../src/agent/mcp/call-output.ts'
import { agentToolName, toolDefinition } from '../../../src/agent/mcp/tool-definition.ts'
import { refuseMcpSecrets } from '../../../src/core/agent/mcp-secrets.ts'

test('lines are found at every split of the bytes, and one that is too long is dropped alone', () => {
  const bytes = Buffer.from(`first\n${'x'.repeat(50)}"id-1"\nlast é\n`)
  for (let at = 0; at <= bytes.length; at++) {
    const lines = new LineSplitter(40)
    const found = [...lines.push(bytes.subarray(0, at)), ...lines.push(bytes.subarray(at))]
    expect(found).toMatchObject([
      { type: 'line', text: 'first' },
      { type: 'too_long', excerpt: expect.stringContaining('"id-1"') },
      { type: 'line', text: 'last é' },
    ])
  }
})

test('only JSON-RPC is a message', () => {
  expect(rpcMessages([1, null, {}, { jsonrpc: '1.0', id: 1, result: {} }])).toEqual([])
  expect(rpcMessages({ jsonrpc: '2.0', id: null, result: {} })).toEqual([])
  expect(rpcMessages({ jsonrpc: '2.0', id: 1, result: 7 })).toEqual([])
  expect(rpcMessages({ jsonrpc: '2.0', id: 1, error: 'no' })).toEqual([])
  expect(rpcMessages([{ jsonrpc: '2.0', id: 1, error: {} }])).toEqual([
    { type: 'error', id: 1, error: { code: 0, message: 'no message' } },
  ])
})

test('names of tools fit providers, and differ where the names of the server do', () => {
  const names = ['a b', 'a_b', 'a/b', 'x'.repeat(80), `${'x'.repeat(80)}y`, 'plain'].map((name) =>
    agentToolName('server', name),
  )
  expect(new Set(names).size).toBe(names.length)
  expect(names.every((name) => /^[A-Za-z0-9_-]{1,64}$/.test(name))).toBe(true)
  expect(names).toContain('mcp__server__plain')
})

test('the hash of a tool changes with its description, schema and annotations, and not with the order of members', () => {
  const tool = { name: 't', description: 'd', inputSchema: { type: 'object', properties: {} } }
  const hash = (given: Parameters<typeof toolDefinition>[0]) => toolDefinition(given)?.hash
  expect(hash({ ...tool, inputSchema: { properties: {}, type: 'object' } })).toBe(hash(tool))
  const changed = [
    { ...tool, description: 'e' },
    { ...tool, inputSchema: { type: 'object' } },
    { ...tool, annotations: { readOnlyHint: true } },
  ]
  expect(new Set([tool, ...changed].map(hash)).size).toBe(4)
  expect(toolDefinition({ name: 't' })).toBeUndefined()
})

test('blocks of a result become parts, unknown ones as their JSON', () => {
  const result = {
    content: [
      { type: 'audio', mimeType: 'audio/wav', data: 'AAAA' },
      { type: 'resource', resource: { uri: 'a:b', mimeType: 'application/zip', blob: 'AAAA' } },
      { type: 'new', value: 1 },
    ],
    structuredContent: { a: 1 },
  }
  expect(callOutput(result, 't').parts).toEqual(
    ['[audio, audio/wav]', '[binary a:b, application/zip]', '{"type":"new","value":1}', '{"a":1}'].map(
      (text) => ({
        type: 'text',
        text,
      }),
    ),
  )
  expect(callOutput({}, 't').parts).toHaveLength(1)
  expect(() => callOutput({ isError: true }, 't')).toThrow('t failed')
})

test('a session or a process names no secrets for servers', () => {
  const refused = (originator: Parameters<typeof refuseMcpSecrets>[0]['originator']) =>
    refuseMcpSecrets({ pid: 'p_000000000000', originator })?.code
  expect(['host', 'human:ann', 'session:s', 'process:p_1'].map((one) => refused(one as 'host'))).toEqual([
    undefined,
    undefined,
    'denied',
    'denied',
  ])
})
