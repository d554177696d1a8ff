import { expect, test } from 'vitest'
import { SCRIPT_LIMITS } from '../../src/core/script/limits.ts'
import type { Stretch } from '../../src/script/messages.ts'
import { loadEngine, ScriptVm } from '../../src/script/script-vm.ts'

/** What a script that got out would return. */
const OUT = 'out'
const SECRET = 'REEVE_TEST_SECRET'

const limits = { memoryBytes: SCRIPT_LIMITS.memoryBytes, computeMs: 500 }

async function run(source: string, args = '{}'): Promise<Stretch | Error> {
  const vm = new ScriptVm(await loadEngine(), limits)
  try {
    return await vm.begin(source, args, 1_700_000_000_000)
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error))
  } finally {
    await vm.close()
  }
}

/** A body that returns what it found of the world outside; null if there is nothing. */
const body = (text: string) => `export default async (args: any, reeve: any) => { ${text} }`

const NOTHING: Readonly<Record<string, string>> = {
  'the object of the OS process': 'return typeof process === "undefined" ? null : "out"',
  'the environment by globalThis': 'return globalThis["process"]?.env ?? null',
  'CommonJS modules': 'return typeof require === "undefined" ? null : "out"',
  'the module object':
    'return typeof module === "undefined" && typeof exports === "undefined" ? null : "out"',
  'a network request': 'return typeof fetch === "undefined" ? null : "out"',
  sockets: 'return typeof WebSocket === "undefined" && typeof XMLHttpRequest === "undefined" ? null : "out"',
  timers:
    'return [typeof setTimeout, typeof setInterval, typeof setImmediate].every((t) => t === "undefined") ? null : "out"',
  'other runtimes': 'return typeof Deno === "undefined" && typeof Bun === "undefined" ? null : "out"',
  'the libraries of the engine':
    'return typeof std === "undefined" && typeof os === "undefined" ? null : "out"',
  'WebAssembly of its own': 'return typeof WebAssembly === "undefined" ? null : "out"',
  threads: 'return typeof Worker === "undefined" && typeof postMessage === "undefined" ? null : "out"',
  'the constructor of functions':
    'return (() => {}).constructor("return typeof process")() === "undefined" ? null : "out"',
  'the constructor of reeve':
    'return Object.getPrototypeOf(reeve) === null && Reflect.ownKeys(reeve).length === 0 ? null : "out"',
  'the constructor of the result of a call':
    'const p = reeve.read_file; return p.constructor("return typeof process")() === "undefined" ? null : "out"',
  'the callers of its function':
    'try { return (function f() { return f.caller ?? null })()?.toString() ?? null } catch { return null }',
  'the frames of a stack':
    'return /node:|file:|\\.ts:.*worker/.test(new Error("x").stack ?? "") ? "out" : null',
  'the hook for stacks of Node':
    'let seen = null; Error.prepareStackTrace = (_, sites) => { try { seen = sites[0]?.getThis?.()?.process ?? null } catch {} ; return "" }; String(new Error("x").stack); return seen',
  'the host function among the globals':
    'return Object.getOwnPropertyNames(globalThis).some((n) => /host|__/.test(n)) ? "out" : null',
  'the clock of the machine': 'return Date.now() === 1700000000000 ? null : "out"',
  'the time zone of the machine': 'return new Date().getTimezoneOffset() === 0 ? null : "out"',
  'high-resolution time': 'return typeof performance === "undefined" ? null : "out"',
  'the prototype of objects of the worker':
    'Object.prototype["calls"] = [{ n: 1, tool: "run_command", input: "{}" }]; Array.prototype.toJSON = () => "out"; return null',
  'replies of its own to the host':
    'JSON.stringify = () => "\\"out\\""; JSON.parse = () => "out"; return null',
}

test.each(Object.entries(NOTHING))('a script finds nothing of %s', async (_, text) => {
  process.env[SECRET] = OUT
  try {
    const ended = await run(body(text))
    expect(ended).toEqual({ type: 'returned', value: 'null', printed: '' })
  } finally {
    delete process.env[SECRET]
  }
})

const FAILING: Readonly<Record<string, readonly [source: string, says: RegExp]>> = {
  'imports a built-in of Node': ['import fs from "node:fs"\nexport default () => fs', /module|import/i],
  'imports a file': ['import x from "/etc/passwd"\nexport default () => x', /module|import/i],
  'imports a library of the engine': [
    'import * as std from "qjs:std"\nexport default () => 1',
    /module|import/i,
  ],
  'imports while it runs': [body('return await import("node:fs")'), /module|import/i],
  'imports data': [body('return await import("data:text/javascript,export default 1")'), /module|import/i],
  'never ends': [body('for (;;) {}'), /interrupted|without a break/],
  'catches its interruption': [
    body('for (;;) { try { for (;;) {} } catch {} }'),
    /interrupted|without a break/,
  ],
  'never ends before it is called': ['for (;;) {}\nexport default () => 1', /interrupted|without a break/],
  'never ends in its jobs': [
    body('const again = () => Promise.resolve().then(again); await again()'),
    /interrupted|without a break|memory/,
  ],
  'never ends in a generator': [body('function* g() { for (;;) yield 1 } return [...g()]'), /./],
  'never ends in a built-in': [
    body('return new Array(3e7).join("ab").length > 1 ? await new Promise(() => {}) : 1'),
    /./,
  ],
  'never ends in a regular expression': [body('return /^(a+)+$/.test("a".repeat(40) + "b")'), /./],
  'never ends when its result is read': [body('return { toJSON() { for (;;) {} } }'), /./],
  'never ends when its error is read': [body('throw { get message() { for (;;) {} } }'), /./],
  'never ends in a proxy': [body('return { ...new Proxy({}, { ownKeys() { for (;;) {} } }) }'), /./],
  'never ends while it sorts': [body('return [3, 1, 2].sort(() => { for (;;) {} })'), /./],
  'calls itself for ever': [body('const f = () => f() + 1; return f()'), /stack/i],
  'fills its memory with arrays': [
    body('const all = []; for (;;) all.push(new Array(1e5).fill(1))'),
    /memory|interrupted|break/,
  ],
  'fills its memory with one buffer': [body('return new ArrayBuffer(2 ** 31).byteLength'), /./],
  'fills its memory with a text': [body('let s = "ab"; for (;;) s += s'), /./],
  'fills its memory with a number': [body('return String((2n ** 30_000_000n))'), /./],
  'waits for nothing that comes': [body('await new Promise(() => {})'), /never comes/],
  'breaks promises': [body('Promise.prototype.then = () => "out"; return null'), /never comes/],
  'returns what is no JSON': [body('return 1n'), /BigInt/i],
  'is no function': ['export default 3', /export default/],
  'is no TypeScript': ['export default async (=> 3', /./],
  'changes reeve': [body('reeve.read_file = () => "out"; return "out"'), /TypeError|reeve|./],
  'has an enum': ['enum A { b }\nexport default () => A.b', /enum/i],
}

test.each(Object.entries(FAILING))('a script that %s fails', async (_, [source, says]) => {
  const ended = await run(source)
  const reason = ended instanceof Error ? ended.message : ended.type === 'failed' ? ended.reason : null
  expect(reason, JSON.stringify(ended)).not.toBeNull()
  expect(reason).toMatch(says)
  expect(JSON.stringify(ended)).not.toContain('"out"')
})

test('a script makes 256 calls and no more', async () => {
  const ended = await run(
    body(
      'const all = []; for (let i = 0; i < 300; i += 1) all.push(reeve.plan({ i }).catch((e) => e)); await all[256]; throw (await all[256])',
    ),
  )
  expect(ended).toMatchObject({ type: 'failed', reason: 'RangeError: A script may make 256 calls.' })
})

test('a call with too large an input is refused inside the script', async () => {
  const ended = await run(body('return reeve.plan({ text: "x".repeat(300_000) })'))
  expect(ended).toMatchObject({ type: 'failed', reason: expect.stringContaining('longer than') })
})

test('the names and inputs of calls are data', async () => {
  const ended = await run(
    body('return await Promise.all([reeve["../x"]({}), reeve.constructor({ a: "\\n" })])'),
  )
  expect(ended).toEqual({
    type: 'waiting',
    calls: [
      { n: 1, tool: '../x', input: '{}' },
      { n: 2, tool: 'constructor', input: '{"a":"\\n"}' },
    ],
  })
})

test('more than 10,000 tokens of output are cut off', async () => {
  const ended = await run(
    body('for (let i = 0; i < 5000; i += 1) console.log("line " + i); return "x".repeat(50_000)'),
  )
  if (ended instanceof Error || ended.type !== 'returned') throw new Error(JSON.stringify(ended))
  expect(ended.value).toBe('null')
  expect(ended.printed).toHaveLength(35_000 + '\n(cut off after 35000 characters)'.length)
})
