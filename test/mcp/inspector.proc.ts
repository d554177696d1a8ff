import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { mcpHttpHandler } from '../../src/mcp/http.ts'
import { tempFolder } from '../temp-folder.ts'
import { TempReeve } from '../temp-reeve.ts'
import type { Era } from './connected.ts'
import { onLoopback } from './loopback.ts'

const INSPECTOR = fileURLToPath(new URL('../../node_modules/.bin/mcp-inspector', import.meta.url))

const TOOLS = [
  'process_start',
  'process_list',
  'process_poll',
  'process_log',
  'process_search',
  'process_screen',
  'process_wait',
  'process_write',
  'process_kill',
  'process_restart',
  'interrupt',
  'inbox',
  'human_ask',
]

test("the Inspector's CLI lists the tools in both eras, and calls every one of them", async () => {
  await using temp = new TempReeve()
  const served = await onLoopback(mcpHttpHandler(await temp.embed()))
  await using _ = { [Symbol.asyncDispose]: () => served.close() }
  // It keeps a catalogue in the user's home.
  const env = { ...process.env, HOME: tempFolder() }
  const inspect = async (era: Era, ...options: string[]) => {
    const common = [
      '--cli',
      `${served.url}?structured=1&folder=${process.cwd()}`,
      '--transport',
      'http',
      '--protocol-era',
      era,
      '--format',
      'json',
      '-q',
    ]
    const { stdout } = await promisify(execFile)(process.execPath, [INSPECTOR, ...common, ...options], {
      env,
    })
    return JSON.parse(stdout)
  }
  const called = new Set<string>()
  const use = async (tool: string, given: Record<string, unknown> = {}) => {
    called.add(tool)
    const pairs = Object.entries(given).map(([key, value]) =>
      typeof value === 'string' ? `${key}=${value}` : `${key}=${JSON.stringify(value)}`,
    )
    const options = pairs.length === 0 ? [] : ['--tool-arg', ...pairs]
    const answer = await inspect('modern', '--method', 'tools/call', '--tool-name', tool, ...options)
    const { isError, structuredContent, content } = answer.result ?? answer
    expect(isError ?? false, JSON.stringify(content)).toBe(false)
    return structuredContent
  }

  for (const era of ['legacy', 'modern'] as const) {
    // Strict: a schema that some client may not understand fails the call.
    const listed = await inspect(era, '--method', 'tools/list', '--strict')
    expect((listed.result ?? listed).tools.map(({ name }: { name: string }) => name)).toEqual(TOOLS)
  }
  // It knows tasks, and waits for them.
  expect(await use('process_start', { run: 'sleep 2; echo done' })).toMatchObject({
    finished: true,
    output: 'done\n',
  })
  const run = 'while printf "> " && read -r line; do echo "got $line"; done'
  expect(await use('process_start', { run, name: 'shell', pty: true, waitMs: 0 })).toMatchObject({
    finished: false,
  })
  expect(await use('process_wait', { pid: 'shell', until: { text: '> ' } })).toMatchObject({
    type: 'matched',
  })
  const wrote = await use('process_write', {
    pid: 'shell',
    text: 'this',
    enter: true,
    until: { text: 'got this' },
  })
  expect(wrote).toMatchObject({ matched: true })
  expect(await use('process_poll', { pid: 'shell' })).toMatchObject({ process: { status: 'running' } })
  expect((await use('process_log', { pid: 'shell' })).lines[1]).toMatchObject({ text: 'got this' })
  expect(await use('process_search', { pid: 'shell', text: 'got' })).toMatchObject({ total: 1 })
  expect((await use('process_screen', { pid: 'shell' })).lines.slice(0, 2)).toEqual(['> this', 'got this'])
  expect((await use('process_list')).processes).toMatchObject([{ name: 'shell' }])
  expect(await use('process_restart', { pid: 'shell', waitMs: 0 })).toMatchObject({ finished: false })
  expect(await use('interrupt', { all: true })).toMatchObject({ matched: 1 })
  expect(await use('process_kill', { pid: 'shell' })).toMatchObject({ process: { status: 'cancelled' } })
  // The tools have answered with every end, so the inbox is empty.
  expect((await use('inbox')).notices).toEqual([])
  expect(await use('human_ask', { question: 'Ship it?', timeoutMs: 1 })).toMatchObject({ finished: false })
  expect([...called].sort()).toEqual([...TOOLS].sort())
}, 300_000)
