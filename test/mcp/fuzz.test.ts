import { PassThrough } from 'node:stream'
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio'
import fc from 'fast-check'
import type { Reeve } from 'reeve'
import { expect, onTestFinished, test } from 'vitest'
import { mcpHttpHandler } from '../../src/mcp/http.ts'
import { serveMcpStdio } from '../../src/mcp/stdio.ts'
import { embedTemp } from '../embed-temp.ts'
import { call, overStdio } from './connected.ts'

/** The time limits of the whole test and of one answer. */
const FUZZ_MS = 8_000
const ANSWER_MS = 5_000

const PIDS = { pid: 'web' }
/** Required arguments of each tool. */
const NEEDED: Record<string, Record<string, unknown>> = {
  process_start: { run: 'true', waitMs: 1 },
  process_list: {},
  process_poll: PIDS,
  process_log: PIDS,
  process_search: { ...PIDS, text: 'x' },
  process_screen: PIDS,
  process_wait: { ...PIDS, timeoutMs: 1 },
  process_write: { ...PIDS, text: 'x', waitMs: 1 },
  process_kill: { ...PIDS, graceMs: 1 },
  process_restart: { ...PIDS, graceMs: 1, waitMs: 1 },
  interrupt: { all: true },
  inbox: {},
}
const wild = fc.oneof(
  fc.constantFrom(true, false, null, 0, 1, -1, 1.5, 2 ** 53, Number.MAX_VALUE, '', [], {}, ['']),
  fc.string({ unit: 'binary', maxLength: 300 }),
  fc.json().map((text) => JSON.parse(text) as unknown),
)
/** Plausible values. */
const TAME: Record<string, fc.Arbitrary<unknown>> = {
  pid: fc.constantFrom('web', 'nobody', 'p_0000', 'p_000000000000'),
  argv: fc.array(fc.string({ maxLength: 20 }), { maxLength: 3 }),
  cwd: fc.constantFrom('/', '/nowhere', 'relative'),
  name: fc.constantFrom('web', 'other', 'p_x', '.'),
  env: fc.dictionary(fc.string({ maxLength: 9 }), fc.string({ maxLength: 9 })),
  pty: fc.constantFrom(true, false, { cols: 1 }, { rows: 1_001 }),
  stdin: fc.constantFrom('pipe', 'null', { text: 'x' }),
  lifetime: fc.constantFrom('session', 'detached', 'daemon'),
  status: fc.constantFrom('any', ['running'], ['queued', 'failed'], 'queued'),
  after: fc.constantFrom(0, 5, 'c0', 'c99', 'o1'),
  limit: fc.integer({ min: 0, max: 3_000 }),
  maxChars: fc.integer({ min: 90, max: 4_000 }),
  offset: fc.nat(),
  from: fc.constantFrom('start', 'end', 0, 10),
  until: fc.constantFrom({ text: 'x' }, { pattern: '(' }, { pattern: 'a*' }, { text: 'x', from: 3 }, {}),
  pattern: fc.constantFrom('(', '[a-z]+', '(?=x)'),
  idempotencyKey: fc.constantFrom('one', 'two'),
}
const members = [
  ...Object.keys(TAME),
  'run',
  'text',
  'enter',
  'end',
  'tree',
  'reason',
  'ansi',
  'stream',
  'all',
  'line',
  'raw',
  'output',
  '__proto__',
]
const member = fc
  .oneof({ weight: 20, arbitrary: fc.constantFrom(...members) }, fc.string())
  .chain((key) =>
    fc.tuple(
      fc.constant(key),
      fc.oneof({ weight: 3, arbitrary: Object.hasOwn(TAME, key) ? TAME[key]! : wild }, wild),
    ),
  )
type Asked = { tool: string; given: Record<string, unknown>; left: string | null }
const asked: fc.Arbitrary<Asked> = fc.constantFrom(...Object.keys(NEEDED)).chain((tool) =>
  fc.record({
    tool: fc.constant(tool),
    given: fc
      .array(member, { maxLength: 2 })
      .map((pairs) => Object.assign(Object.create(null), NEEDED[tool], Object.fromEntries(pairs))),
    // A wait without a timeout would rightly take long.
    left: fc.option(fc.constantFrom('run', 'pid', 'text'), { freq: 9 }),
  }),
)

/** Without commands: started processes are registered, and never run. */
async function still(): Promise<Reeve> {
  const reeve = await embedTemp()
  return reeve
}

test('for arbitrary arguments a tool answers in time, with at most a page', async () => {
  const reeve = await still()
  const client = await overStdio(reeve, { era: 'modern' })
  const results = new Set<string>()
  await call(client, 'process_start', { run: 'true', name: 'web', waitMs: 1 })
  await fc.assert(
    fc.asyncProperty(asked, async ({ tool, given, left }) => {
      const args = Object.fromEntries(Object.entries(given).filter(([key]) => key !== left))
      const { text, isError } = await call(client, tool, args, { timeout: ANSWER_MS })
      expect(text).not.toBe('')
      expect(text.length).toBeLessThan(isError ? 20_000 : 4_500)
      results.add(`${tool} ${isError ? 'no' : 'yes'}`)
    }),
    {
      interruptAfterTimeLimit: FUZZ_MS,
      numRuns: 2_000,
      examples: Object.entries(NEEDED).flatMap(([tool, given]): [Asked][] => [
        [{ tool, given, left: null }],
        [{ tool, given: { ...given, noSuchArgument: true }, left: null }],
      ]),
    },
  )
  // Both valid and invalid calls were made.
  for (const tool of [
    'process_start',
    'process_list',
    'process_wait',
    'process_poll',
    'process_kill',
    'inbox',
  ])
    expect([...results]).toContain(`${tool} yes`)
  for (const tool of Object.keys(NEEDED)) expect([...results]).toContain(`${tool} no`)
  expect(await call(client, 'process_list')).toMatchObject({ isError: false })
}, 120_000)

test('for an arbitrary body HTTP answers in time, with a status below 500', async () => {
  const handler = mcpHttpHandler(await still())
  onTestFinished(() => handler.close())
  const caller = { role: 'admin', actor: 'host', tokenId: null } as const
  const method = fc.constantFrom(
    'initialize',
    'tools/call',
    'tools/list',
    'resources/read',
    'server/discover',
    'ping',
  )
  const version = fc.constantFrom('2025-11-25', '2026-07-28', '1', '')
  const message = fc.record(
    {
      jsonrpc: fc.constant('2.0'),
      id: fc.oneof(fc.nat(), fc.string(), fc.constant(null)),
      method: fc.oneof(method, fc.string()),
      params: fc.oneof(
        fc.dictionary(fc.constantFrom('name', 'arguments', 'uri', '_meta', 'protocolVersion'), wild),
        fc.json().map((text) => JSON.parse(text) as unknown),
      ),
    },
    { requiredKeys: [] },
  )
  const body = fc.oneof(
    message.map((one) => JSON.stringify(one)),
    fc.json(),
    fc.string({ unit: 'binary' }),
  )
  const type = fc.constantFrom('application/json', 'text/plain', 'application/json; charset=utf-8', '')
  const verb = fc.constantFrom('POST', 'POST', 'POST', 'GET', 'DELETE', 'PUT')
  await fc.assert(
    fc.asyncProperty(
      verb,
      body,
      type,
      version,
      fc.boolean(),
      async (how, text, contentType, protocol, hasId) => {
        const headers = {
          accept: 'application/json, text/event-stream',
          ...(contentType === '' ? {} : { 'content-type': contentType }),
          ...(protocol === '' ? {} : { 'mcp-protocol-version': protocol }),
          ...(hasId ? { 'mcp-session-id': 'nobody' } : {}),
        }
        const init = { method: how, headers, ...(how === 'GET' ? {} : { body: text }) }
        const answering = handler.fetch(new Request('http://127.0.0.1/mcp', init), caller)
        const response = await Promise.race([answering, late()])
        expect(response.status).toBeLessThan(500)
        await response.body?.cancel()
      },
    ),
    { interruptAfterTimeLimit: FUZZ_MS, numRuns: 2_000 },
  )
})

test('after arbitrary bytes on standard input the server still answers', async () => {
  const reeve = await still()
  const line = fc.oneof(
    fc.json(),
    fc.string({ unit: 'binary' }),
    fc.constantFrom('{', '[]', 'null', '{"jsonrpc":"2.0"}'),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(line, { maxLength: 20 }), async (lines) => {
      const [input, output] = [new PassThrough(), new PassThrough()]
      const served = serveMcpStdio(reeve, {
        transport: new StdioServerTransport(input, output),
        onTrouble: () => {},
      })
      for (const one of lines) input.write(`${one.replaceAll('\n', ' ')}\n`)
      const hello = {
        jsonrpc: '2.0',
        id: 'hello',
        method: 'initialize',
        params: {
          protocolVersion: '2025-11-25',
          capabilities: {},
          clientInfo: { name: 'fuzz', version: '1' },
        },
      }
      input.write(`${JSON.stringify(hello)}\n`)
      await Promise.race([answerTo('hello', output), late()])
      await served.close()
    }),
    { interruptAfterTimeLimit: FUZZ_MS, numRuns: 300 },
  )
})

async function answerTo(id: string, output: PassThrough): Promise<void> {
  let text = ''
  for await (const bytes of output) {
    text += String(bytes)
    if (text.includes(`"id":"${id}"`)) return
  }
}

function late(): Promise<never> {
  return new Promise((_, reject) => {
    setTimeout(() => reject(new Error(`No answer within ${ANSWER_MS} ms`)), ANSWER_MS).unref()
  })
}
