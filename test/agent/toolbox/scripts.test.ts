import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { defineTool } from 'reeve'
import { expect, test } from 'vitest'
import * as z from 'zod'
import type { JsonObject } from '../../../src/core/json/json.ts'
import type { Embedded } from '../../../src/embed/embed.ts'
import { AgentBench, answers, ended } from './agent-bench.ts'

const script = (body: string, args: JsonObject = {}) => ({
  tool: 'script',
  input: { source: `export default async (args: any, reeve: any) => { ${body} }`, args },
})

/** The processes below another one. */
async function below(reeve: Embedded, pid: string) {
  const { processes } = await reeve.list({ filter: { parent: [pid], status: 'any' }, limit: 100 })
  return processes.map(({ record }) => record)
}

async function scriptOf(reeve: Embedded, pid: string) {
  const found = (await below(reeve, pid)).find(({ spec }) => spec['tool'] === 'agent.script')
  if (found === undefined) throw new Error('There is no script')
  return found
}

test('a script calls tools of its agent at once, and its calls are processes below it', async () => {
  const bench = new AgentBench()
  writeFileSync(join(bench.workspace, 'a.txt'), 'alpha')
  writeFileSync(join(bench.workspace, 'b.txt'), 'beta')
  const reeve = await bench.open()
  const pid = await bench.start(reeve, [
    [
      script(
        `const texts = await Promise.all(args.paths.map((path) => reeve.read_file({ path })))
         console.log('read', texts.length)
         return texts.map((text) => /alpha|beta/.exec(text)[0])`,
        { paths: ['a.txt', 'b.txt'] },
      ),
    ],
  ])
  await ended(reeve, pid)
  const [answer] = await answers(reeve, pid)
  expect(answer).toMatchObject({ isError: false, text: 'read 2\n[\n  "alpha",\n  "beta"\n]' })
  const owner = await scriptOf(reeve, pid)
  expect(owner).toMatchObject({ recovery: 'rerunnable', parent: pid, children: 2 })
  const calls = await below(reeve, owner.pid)
  expect(calls.map(({ spec }) => spec['tool'])).toEqual(['agent.read_file', 'agent.read_file'])
})

test('a script has the result of a tool of a program as JSON', async () => {
  const bench = new AgentBench()
  const add = defineTool({
    name: 'add',
    description: 'adds',
    input: z.object({ a: z.number(), b: z.number() }),
    run: ({ a, b }) => ({ sum: a + b }),
  })
  const reeve = await bench.open({ tools: [add] })
  const [answer] = await bench.results(reeve, [[script('return (await reeve.add({ a: 1, b: 2 })).sum + 1')]])
  expect(answer).toMatchObject({ isError: false, text: '4' })
})

test('what the rules deny its agent is denied to a script, and audited', async () => {
  const bench = new AgentBench()
  const reeve = await bench.open()
  await reeve.addRule({ rule: { effect: 'deny', resource: 'tool:write_file' } })
  const [answer] = await bench.results(reeve, [
    [
      script(
        `try { await reeve.write_file({ path: 'x', content: 'x' }) } catch (error) { return error.message }`,
      ),
    ],
  ])
  expect(answer).toMatchObject({ isError: false, text: expect.stringContaining('may not do this') })
  expect(() => readFileSync(join(bench.workspace, 'x'))).toThrow()
  const { entries } = await reeve.audit({ limit: 100 })
  expect(entries.filter((entry) => entry.type === 'entry' && entry.decision === 'denied')).toHaveLength(1)
})

test('a script runs no script, proposes no tool, and calls nothing that does not exist', async () => {
  const bench = new AgentBench()
  const reeve = await bench.open()
  const body = `return (await Promise.allSettled([reeve.script({ source: 'export default () => 1' }),
    reeve.propose_tool({}), reeve.nothing()])).map(({ reason }) => reason.message.slice(0, 26))`
  const [answer] = await bench.results(reeve, [[script(body)]])
  expect(JSON.parse(answer?.text ?? '')).toEqual([
    'There is no tool "script",',
    'There is no tool "propose_',
    'There is no tool "nothing"',
  ])
})

test('a script that fails is an error result with what it printed', async () => {
  const bench = new AgentBench()
  bench.scriptLimits = { computeMs: 500 }
  const reeve = await bench.open()
  const found = await bench.results(reeve, [
    [script(`console.log('so far'); throw new TypeError('no')`), script('for (;;) {}')],
    [{ tool: 'script', input: { source: 'import "fs"' } }],
  ])
  expect(found.map(({ isError, text }) => [isError, text])).toEqual([
    [true, 'The script failed: TypeError: no\nIt had printed:\nso far\n'],
    [true, expect.stringMatching(/interrupted|without a break/)],
    [true, expect.stringContaining('The script failed')],
  ])
})

const WAITS = `const [written, read] = await Promise.all([
    reeve.write_file({ path: 'made.txt', content: 'made' }),
    reeve.read_file({ path: 'a.txt' }),
  ])
  const after = await reeve.read_file({ path: 'made.txt' })
  return [/alpha/.test(read), /made/.test(after)]`

async function waiting(reeve: Embedded, pid: string) {
  await expect
    .poll(async () => (await scriptOf(reeve, pid)).parked, { interval: 20, timeout: 20_000 })
    .toBe(true)
  const { approvals } = await reeve.approvals({})
  const [approval] = approvals
  if (approval === undefined) throw new Error('Nobody is asked')
  return { approval: approval.id, record: await scriptOf(reeve, pid) }
}

test('a script that waits for a person leaves memory with its state, and goes on in the next kernel', async () => {
  const bench = new AgentBench()
  bench.scriptLimits = { idleMs: 50 }
  writeFileSync(join(bench.workspace, 'a.txt'), 'alpha')
  const first = await bench.open()
  await first.addRule({ rule: { effect: 'ask', resource: 'tool:write_file' } })
  const pid = await bench.start(first, [[script(WAITS)]])
  const { approval, record } = await waiting(first, pid)
  expect(record.snapshot).toMatchObject({ calls: 2, pending: expect.arrayContaining([1]) })
  await first.close()
  const second = await bench.open()
  await second.approve({ id: approval, grant: 'once' })
  await ended(second, pid)
  expect(await answers(second, pid)).toMatchObject([{ isError: false, text: '[\n  true,\n  true\n]' }])
  const done = await scriptOf(second, pid)
  expect(done).toMatchObject({ children: 3, status: 'completed' })
  expect(done).not.toHaveProperty('snapshot')
})

test('a script whose state is too large runs again from its first line, with the results that it had', async () => {
  const bench = new AgentBench()
  bench.scriptLimits = { idleMs: 50 }
  writeFileSync(join(bench.workspace, 'a.txt'), 'alpha')
  const first = await bench.open()
  await first.addRule({ rule: { effect: 'ask', resource: 'tool:write_file' } })
  const noise = 'const noise = Array.from({ length: 400_000 }, () => Math.random());'
  const pid = await bench.start(first, [[script(`${noise} ${WAITS}.concat(noise.length)`)]])
  const { approval, record } = await waiting(first, pid)
  expect(record).not.toHaveProperty('snapshot')
  await first.close()
  const second = await bench.open()
  await second.approve({ id: approval, grant: 'once' })
  await ended(second, pid)
  expect(await answers(second, pid)).toMatchObject([{ text: '[\n  true,\n  true,\n  400000\n]' }])
  expect(await scriptOf(second, pid)).toMatchObject({ children: 3 })
})

test('a script whose time is over ends, also while it is out of memory', async () => {
  const bench = new AgentBench()
  bench.scriptLimits = { idleMs: 50, runMs: 300 }
  const hangs = defineTool({
    name: 'hangs',
    description: 'hangs',
    input: z.object({}),
    run: (_, { abortSignal }) =>
      new Promise<never>((_resolve, reject) => {
        abortSignal.addEventListener('abort', () => reject(abortSignal.reason))
      }),
  })
  const reeve = await bench.open({ tools: [hangs] })
  const [answer] = await bench.results(reeve, [[script('await reeve.hangs()')]])
  expect(answer).toMatchObject({ isError: true, text: expect.stringContaining('stopped after 0.3 s') })
})

test('an agent that ends takes its script and the calls of it along', async () => {
  const bench = new AgentBench()
  bench.scriptLimits = { idleMs: 50 }
  writeFileSync(join(bench.workspace, 'a.txt'), 'alpha')
  const reeve = await bench.open()
  await reeve.addRule({ rule: { effect: 'ask', resource: 'tool:write_file' } })
  const pid = await bench.start(reeve, [[script(WAITS)]])
  const { record: owner } = await waiting(reeve, pid)
  await reeve.shutDownAgent({ pid, reason: 'enough' })
  await ended(reeve, pid)
  await expect
    .poll(async () => (await below(reeve, owner.pid)).filter(({ outcome }) => outcome === null), {
      timeout: 20_000,
    })
    .toEqual([])
  expect((await scriptOf(reeve, pid)).outcome).not.toBeNull()
})
